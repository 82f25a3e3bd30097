"""What readers see of a table's metadata; pyiceberg is the judge."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from lake_tables import Rounds, pyiceberg_table, table_info
from pyiceberg.conversions import from_bytes

from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.read.reader import IcebergReader, local_reader
from lakeward.lake.port import LakePlace
from lakeward.model.table import TableInfo, TablePath

TYPES = {
    "id": "BIGINT NOT NULL",
    "i": "INT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "s": "STRING",
    "b": "BOOLEAN",
    "day": "DATE",
    "at": "TIMESTAMP(6)",
    "ltz": "TIMESTAMP_LTZ(6)",
    "time": "TIME",
    "n": "DECIMAL(10, 2)",
    "x": "BYTES",
}
_NOON = dt.datetime(2026, 11, 1, 12, 0, 0, 5)


def row(id_: int, **more: Any) -> dict[str, Any]:
    """A row with a value in every column."""
    day = dt.timedelta(days=id_)
    return {
        "id": id_,
        "i": -id_,
        "f": id_ / 2,
        "d": -id_ / 4,
        "s": f"text {id_}",
        "b": id_ % 2 == 0,
        "day": (_NOON + day).date(),
        "at": _NOON - day,
        "ltz": (_NOON + day).replace(tzinfo=dt.UTC),
        "time": dt.time(id_ % 24),
        "n": Decimal(-id_) / 100,
        "x": bytes([id_]),
        **more,
    }


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    """A table by key with files, deletes and bounds in two buckets."""
    made = Rounds(lake_format("iceberg"), tmp_path, table_info(TYPES, key="id"))
    made.round({LakePlace(0): [row(i) for i in range(0, 40, 2)], LakePlace(1): [row(i) for i in range(1, 40, 2)]})
    made.round({LakePlace(0): [row(2, s="new", _="+U"), row(4, _="-D")]})
    return made


def opened(rounds: Rounds, info: TableInfo | None = None) -> IcebergReader:
    """The reader of the warehouse's own catalog."""
    found = local_reader({"warehouse": str(rounds.warehouse)}, info or rounds.info)
    assert found is not None
    assert found[0] is not None
    return found[0]


def test_files_deletes_and_bounds_are_those_that_pyiceberg_sees(rounds: Rounds) -> None:
    """Bucket by bucket, column by column."""
    table = pyiceberg_table(rounds.warehouse)
    reader = opened(rounds)
    newest = reader.snapshots()[0]
    assert newest.snapshot_id == table.metadata.current_snapshot_id
    want = {task.file.file_path: task for task in table.scan().plan_files()}
    got = {placed.file.path: placed for placed in reader.files(newest.snapshot_id, TYPES)}
    assert got.keys() == want.keys()
    for path, placed in got.items():
        told = want[path].file
        assert (placed.file.rows, placed.file.bytes) == (told.record_count, told.file_size_in_bytes)
        assert placed.place == LakePlace(told.partition[0])
        assert {d.path for d in placed.file.deletes} == {d.file_path for d in want[path].delete_files}
        for name in ("id", "i", "f", "d", "s", "b", "n", "x"):
            field = table.schema().find_field(name)
            low = from_bytes(field.field_type, told.lower_bounds[field.field_id])
            assert placed.bounds[name].low == low, name
        first = min(placed.bounds["id"].low, 2)
        assert placed.bounds["day"].low <= (_NOON + dt.timedelta(days=first)).date()
        assert placed.bounds["ltz"].high.tzinfo is not None
        assert placed.bounds["at"].high.tzinfo is None
        assert placed.bounds["id"].nulls == 0
        assert placed.bounds["id"].values == told.record_count


def test_the_way_by_a_catalog_and_the_quick_way_see_the_same(rounds: Rounds) -> None:
    """Snapshots, files, tags."""
    table: Any = rounds.catalog.load(rounds.info.path)
    slow, quick = table.reader(rounds.info), opened(rounds)
    assert slow.snapshots() == quick.snapshots()
    for snapshot in quick.snapshots():
        assert slow.files(snapshot.snapshot_id, ["id"]) == quick.files(snapshot.snapshot_id, ["id"])
    assert slow.tags() == quick.tags() == {}


def test_a_table_or_a_catalog_that_is_not_there(rounds: Rounds, tmp_path: Path) -> None:
    """Another catalog is not for this way; a table that is missing is known to be."""
    other = replace(rounds.info, path=TablePath("shop", "nothing"))
    assert local_reader({"warehouse": str(rounds.warehouse)}, other) == (None,)
    assert local_reader({"warehouse": str(tmp_path / "new")}, rounds.info) == (None,), "looking makes no catalog"
    assert local_reader({"type": "rest", "uri": "http://localhost:1"}, rounds.info) is None


def test_readers_do_not_wait_for_pyiceberg(rounds: Rounds) -> None:
    """The first answer of a process needs none of it."""
    code = (
        "import sys\n"
        "from lakeward.lake.formats import quick_reader\n"
        "assert quick_reader('iceberg') is not None\n"
        "print([name for name in ('pyiceberg', 'sqlalchemy', 'pandas') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert told.strip() == "[]"
