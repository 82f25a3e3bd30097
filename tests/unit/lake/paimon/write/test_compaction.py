"""Which files of a place are merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lake_tables import made_for, table_info

from lakeward.lake.paimon.manifest.manifests import ADDED, FileEntry
from lakeward.lake.paimon.schema.schema_file import schema_of
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.paimon.write.compaction import mergings
from lakeward.lake.port import LakePlace

INFO = made_for("paimon", table_info({"id": "BIGINT NOT NULL"}, key="id"))


def shape(**options: str) -> TableShape:
    """A primary key table with these options."""
    schema = schema_of(INFO, 0)
    schema.options.update({name.replace("_", "-"): value for name, value in options.items()})
    return TableShape.of(Path("table"), schema, INFO)


def files(*sizes: tuple[int, int]) -> list[FileEntry]:
    """Files by level and size."""
    records: list[dict[str, Any]] = [
        {"_FILE_NAME": f"f{i}", "_LEVEL": level, "_FILE_SIZE": size} for i, (level, size) in enumerate(sizes)
    ]
    return [FileEntry(ADDED, b"", 0, 2, record) for record in records]


def test_few_files_are_left_alone() -> None:
    """With the one that the round adds there are no more than readers merge with ease."""
    assert mergings(shape(), {LakePlace(0): files(*[(0, 1)] * 4)}) == {}


def test_small_files_are_merged_above_a_large_one() -> None:
    """A large last level is not rewritten for a few changes; deleted rows have to be kept then."""
    found = mergings(shape(), {LakePlace(0): files((5, 1000), *[(0, 10)] * 5)})[LakePlace(0)]
    assert (len(found.files), found.level, found.is_bottom) == (5, 4, False)


def test_everything_is_merged_when_the_changes_have_grown() -> None:
    """What is above the last level is a good part of it."""
    found = mergings(shape(), {LakePlace(0): files((5, 1000), (4, 300), *[(0, 10)] * 4)})[LakePlace(0)]
    assert (len(found.files), found.level, found.is_bottom) == (6, 5, True)


def test_a_round_merges_only_its_worst_places() -> None:
    """A quarter of those it touches, so that no round takes much longer than others."""
    places = {LakePlace(i): files(*[(0, 1)] * (5 + i)) for i in range(8)}
    assert set(mergings(shape(), places)) == {LakePlace(7), LakePlace(6)}


def test_a_table_that_others_compact_is_left_to_them() -> None:
    """`write-only` is Paimon's own word for it."""
    assert mergings(shape(write_only="true"), {LakePlace(0): files(*[(0, 1)] * 50)}) == {}
