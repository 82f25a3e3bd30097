"""Manifests say which files came and went."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.lake.paimon.manifest import manifests as module
from lakeward.lake.paimon.manifest.manifests import ADDED, FileEntry, ManifestLine, Manifests
from lakeward.lake.paimon.schema.binary_row import EMPTY, of_binary, to_binary
from lakeward.model.data_types import INT, STRING

_BOUNDS = {"_MIN_VALUES": EMPTY, "_MAX_VALUES": EMPTY, "_NULL_COUNTS": []}


def file(name: str, partition: bytes = EMPTY, level: int = 0) -> FileEntry:
    """A file that comes."""
    record = {
        "_FILE_NAME": name,
        "_FILE_SIZE": 10,
        "_ROW_COUNT": 3,
        "_MIN_KEY": EMPTY,
        "_MAX_KEY": EMPTY,
        "_KEY_STATS": _BOUNDS,
        "_VALUE_STATS": _BOUNDS,
        "_MIN_SEQUENCE_NUMBER": 0,
        "_MAX_SEQUENCE_NUMBER": 2,
        "_SCHEMA_ID": 0,
        "_LEVEL": level,
        "_EXTRA_FILES": [],
    }
    return FileEntry(ADDED, partition, 0, -1, record)


def names(manifests: Manifests, lines: list[ManifestLine]) -> set[str]:
    """The names of the live files."""
    return {entry.name for entry in manifests.live(lines).values()}


def test_entries_come_back_and_what_went_is_not_live(tmp_path: Path) -> None:
    """A list of manifests names all of them, in order."""
    manifests = Manifests(tmp_path, [], 0)
    lines = [*manifests.write([file("a"), file("b")]), *manifests.write([file("a").removal()]), *manifests.write([])]
    assert manifests.write_list("list-0", lines) == (tmp_path / "manifest" / "list-0").stat().st_size
    read = manifests.read_list("list-0")
    assert [(line["_NUM_ADDED_FILES"], line["_NUM_DELETED_FILES"]) for line in read] == [(2, 0), (0, 1)]
    assert names(manifests, read) == {"b"}


def test_many_small_manifests_become_one(tmp_path: Path) -> None:
    """After a thousand rounds a snapshot is built on few manifests, and no file is lost or doubled."""
    manifests = Manifests(tmp_path, [], 0)
    lines: list[ManifestLine] = []
    for number in range(100):
        lines = [*manifests.merge(lines), *manifests.write([file(f"f{number}")])]
    assert len(lines) <= 31
    assert names(manifests, lines) == {f"f{number}" for number in range(100)}


def test_files_that_went_leave_the_manifests(tmp_path: Path) -> None:
    """Where every round replaces the file before, entries do not add up."""
    manifests = Manifests(tmp_path, [], 0)
    lines = manifests.write([file("f0")])
    for number in range(1, 100):
        lines = [*manifests.merge(lines), *manifests.write([file(f"f{number - 1}").removal(), file(f"f{number}")])]
    assert names(manifests, lines) == {"f99"}
    assert sum(1 for _ in manifests.entries(lines)) < 70


def test_a_file_in_a_large_manifest_stays_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large manifest is not read to be merged: that its file went is kept beside it."""
    manifests = Manifests(tmp_path, [], 0)
    large = manifests.write([file(f"old{i}") for i in range(200)])
    monkeypatch.setattr(module, "_SMALL_BYTES", large[0]["_FILE_SIZE"])
    lines = [*large, *manifests.write([file("old7").removal()])]
    for number in range(40):
        lines = [*lines, *manifests.write([file(f"new{number}")])]
    merged = manifests.merge(lines)
    assert merged[0] == large[0]
    assert len(merged) == 2
    assert names(manifests, merged) == names(manifests, lines)
    assert "old7" not in names(manifests, merged)


def test_a_manifest_knows_the_bounds_of_its_partitions(tmp_path: Path) -> None:
    """Readers skip manifests by them."""
    types = [STRING(), INT()]
    manifests = Manifests(tmp_path, types, 0)
    places = [to_binary(types, ["b", 1]), to_binary(types, ["a", 5]), to_binary(types, ["c", None])]
    (line,) = manifests.write([file(str(i), place) for i, place in enumerate(places)])
    found = line["_PARTITION_STATS"]
    assert of_binary(types, found["_MIN_VALUES"]) == ("a", 1)
    assert of_binary(types, found["_MAX_VALUES"]) == ("c", 5)
    assert found["_NULL_COUNTS"] == [0, 1]
