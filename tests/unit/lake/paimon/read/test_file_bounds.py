"""The bounds of a file's columns, as a manifest has them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from lake_tables import Rounds, table_info

from lakeward.lake.formats import lake_format
from lakeward.lake.port import Bounds, LakePlace

TYPES = {
    "id": "BIGINT NOT NULL",
    "s": "STRING",
    "day": "DATE",
    "at": "TIMESTAMP(3)",
    "ltz": "TIMESTAMP_LTZ(6)",
    "f": "DOUBLE",
}
NOON = dt.datetime(2026, 11, 1, 12, 0, 0, 5000)


def row(id_: int, **more: Any) -> dict[str, Any]:
    """A row."""
    at = NOON + dt.timedelta(days=id_)
    text = f"text {id_:03}"
    return {"id": id_, "s": text, "day": at.date(), "at": at, "ltz": at.replace(tzinfo=dt.UTC), **more}


def bounds(tmp_path: Path, rows: list[dict[str, Any]], *, key: str = "") -> dict[str, Bounds]:
    """Those of the one file of a table with these rows."""
    rounds = Rounds(lake_format("paimon"), tmp_path, table_info(TYPES, key=key))
    rounds.round({LakePlace(0): rows})
    table: Any = rounds.table
    reader = table.reader(rounds.info)
    (placed,) = reader.files(reader.snapshots()[0].snapshot_id, TYPES)
    return dict(placed.bounds)


def test_a_log_tables_columns_have_bounds(tmp_path: Path) -> None:
    """As Python's values; numbers with fractions have none."""
    first, last = row(3), row(40)
    found = bounds(tmp_path, [row(7), last, first, row(9, s=None)])
    for name in ("id", "s", "day", "at", "ltz"):
        assert (found[name].low, found[name].high) == (first[name], last[name]), name
    assert (found["s"].nulls, found["s"].values) == (1, 4)
    assert "f" not in found


def test_long_texts_have_none(tmp_path: Path) -> None:
    """A cut one would have to be rounded up."""
    assert "s" not in bounds(tmp_path, [row(1, s="x" * 100)])


def test_a_primary_key_tables_key_alone_has_bounds(tmp_path: Path) -> None:
    """A file that cannot match by another column may hide older rows of its keys in other files."""
    found = bounds(tmp_path, [row(5), row(2), row(4)], key="id")
    assert found == {"id": Bounds(2, 5, 0, 3)}


@pytest.mark.parametrize("missing", ["_VALUE_STATS_COLS", "_MIN_VALUES"])
def test_other_writers_may_say_less(tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No list of columns means all of them; no values mean that nothing is known."""
    from lakeward.lake.paimon.manifest.manifests import FileEntry
    from lakeward.lake.paimon.read import file_bounds
    from lakeward.lake.paimon.schema.binary_row import EMPTY

    read = file_bounds.FileBounds.of

    def less(self: Any, entry: FileEntry) -> dict[str, Bounds]:
        told = {**entry.file, "_VALUE_STATS": {**entry.file["_VALUE_STATS"]}}
        if missing == "_MIN_VALUES":
            told["_VALUE_STATS"] |= {"_MIN_VALUES": EMPTY, "_MAX_VALUES": EMPTY}
        else:
            told[missing] = None
        return read(self, FileEntry(entry.kind, entry.partition, entry.bucket, entry.total_buckets, told))

    monkeypatch.setattr(file_bounds.FileBounds, "of", less)
    assert bounds(tmp_path, [row(1), row(2)]) == {}
