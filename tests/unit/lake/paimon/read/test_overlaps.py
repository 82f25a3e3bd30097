"""Files that share no key with others, and hold no deleted rows, are not merged."""

from __future__ import annotations

from typing import Any

from lakeward.lake.paimon.manifest.manifests import ADDED, FileEntry
from lakeward.lake.paimon.read.overlaps import merged_files
from lakeward.lake.paimon.schema.binary_row import to_binary
from lakeward.model.data_types import DataType, TypeRoot

BIGINT = DataType(TypeRoot.BIGINT)
DOUBLE = DataType(TypeRoot.DOUBLE)


def entry(name: str, low: Any, high: Any, deleted: int | None = 0, bucket: int = 0, **more: Any) -> FileEntry:
    """A file with these first and last keys."""
    types = more.get("types", [BIGINT])
    file = {
        "_FILE_NAME": name,
        "_LEVEL": 0,
        "_MIN_KEY": to_binary(types, [low]),
        "_MAX_KEY": to_binary(types, [high]),
        "_DELETE_ROW_COUNT": deleted,
    }
    return FileEntry(ADDED, b"", bucket, 2, file)


def merged(*entries: FileEntry, types: Any = (BIGINT,)) -> set[str]:
    """The names of those that are merged."""
    return {identity[-1] for identity in merged_files(entries, types)}


def test_files_that_share_no_key_stand_alone() -> None:
    """Whatever order they come in; other buckets do not count."""
    assert merged(entry("b", 11, 20), entry("a", 1, 10), entry("c", 5, 30, bucket=1)) == set()


def test_files_whose_keys_meet_are_merged() -> None:
    """Also when only the last key of one is the first of another, or one lies within another that began long before."""
    assert merged(entry("a", 1, 10), entry("b", 10, 20), entry("c", 21, 30)) == {"a", "b"}
    assert merged(entry("a", 1, 100), entry("b", 2, 3), entry("c", 50, 60), entry("d", 101, 102)) == {"a", "b", "c"}


def test_a_file_with_deleted_rows_or_of_unknown_ones_is_merged() -> None:
    """A deleted row is in the file, but not in the table."""
    assert merged(entry("a", 1, 10, deleted=1), entry("b", 11, 20, deleted=None), entry("c", 21, 30)) == {"a", "b"}


def test_keys_without_an_order_are_merged() -> None:
    """NaN is neither below nor above."""
    nan = float("nan")
    assert merged(entry("a", 1.0, nan, types=[DOUBLE]), entry("b", 2.0, 3.0, types=[DOUBLE]), types=[DOUBLE]) == {
        "a",
        "b",
    }
