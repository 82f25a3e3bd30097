"""Rows that files of equality deletes name are not read; later rows with the same values are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lake_tables import Rounds, pyiceberg_table, table_info
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record

from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.commit.file_changes import FileChanges
from lakeward.lake.iceberg.read.equality_deletes import without
from lakeward.lake.iceberg.read.reader import IcebergReader, local_reader
from lakeward.lake.port import Compacts, LakePlace
from lakeward.query.plan.splits import LakeSplit, split_of_json
from lakeward.records.arrow.arrow_types import arrow_schema

COLUMNS = {"id": "BIGINT NOT NULL", "part": "STRING", "name": "STRING"}


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    """A table with a round in two buckets."""
    made = Rounds(lake_format("iceberg"), tmp_path, table_info(COLUMNS))
    made.round({LakePlace(0): rows(0, 10), LakePlace(1): rows(10, 20)})
    return made


def rows(start: int, stop: int, name: str = "old") -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "part": "a" if i % 2 else None, "name": name} for i in range(start, stop)]


def delete(rounds: Rounds, bucket: int, values: pa.Table) -> None:
    """A commit of another service: a file of values, as the format describes it."""
    table = pyiceberg_table(rounds.warehouse)
    path = f"{table.location()}/data/{bucket}-{values.num_rows}-eq.parquet"
    Path(path.removeprefix("file://")).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(values, path.removeprefix("file://"))
    file = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=Record(bucket),
        record_count=values.num_rows,
        file_size_in_bytes=Path(path.removeprefix("file://")).stat().st_size,
        spec_id=table.spec().spec_id,
        sort_order_id=None,
        equality_ids=[table.schema().find_field(name).field_id for name in values.column_names],
        key_metadata=None,
        split_offsets=None,
    )
    with table.transaction() as change:
        snapshot = FileChanges(change, table.io, {})
        snapshot.add_delete_file(file)
        snapshot.commit()


def read(rounds: Rounds, *names: str) -> list[dict[str, Any]]:
    """All rows, by the id if it is asked for; files travel to a task as JSON."""
    found = local_reader({"warehouse": str(rounds.warehouse)}, rounds.info)
    assert found is not None
    reader = found[0]
    assert isinstance(reader, IcebergReader)
    newest = reader.snapshots()[0].snapshot_id
    schema = arrow_schema(rounds.info.schema.select(names))
    got: list[dict[str, Any]] = []
    for placed in reader.files(newest):
        split = split_of_json(LakeSplit(None, 0, "iceberg", newest, (placed.file,)).to_json())
        assert isinstance(split, LakeSplit)
        for batch in reader.rows(split.files, schema):
            assert batch.schema.equals(schema)
            got += batch.to_pylist() if names else [{}] * batch.num_rows
    return sorted(got, key=lambda row: row.get("id", 0))


def test_older_rows_with_the_values_are_gone(rounds: Rounds) -> None:
    """In their own bucket alone; what is written later stays, whichever columns are asked for."""
    delete(rounds, 0, pa.table({"id": pa.array([3, 4, 15])}))
    rounds.table = rounds.catalog.ensure(rounds.info)
    rounds.round({LakePlace(0): rows(4, 5, "new")})
    want = sorted([r for r in rows(0, 20) if r["id"] not in {3, 4}] + rows(4, 5, "new"), key=lambda row: row["id"])
    assert read(rounds, "id", "part", "name") == want
    assert len(read(rounds, "name")) == len(read(rounds)) == len(want)


def test_values_of_several_columns_and_of_none(rounds: Rounds) -> None:
    """A row must have all of them; NULL is as good as any."""
    delete(rounds, 0, pa.table({"id": pa.array([1, 2, 3]), "part": pa.array(["a", None, "b"])}))
    assert [row["id"] for row in read(rounds, "id")] == [i for i in range(20) if i not in {1, 2}]
    delete(rounds, 1, pa.table({"part": pa.array([None], pa.string())}))
    assert [row["id"] for row in read(rounds, "id")] == [0, *range(3, 10), *range(11, 20, 2)]


def test_values_of_another_width_are_the_same() -> None:
    """A column may have been widened since."""
    found = without(
        pa.record_batch({"id": pa.array([1, 2, 3], pa.int64())}), [pa.table({"id": pa.array([2], pa.int32())})]
    )
    assert found.column("id").to_pylist() == [1, 3]


def test_a_compaction_by_hand_applies_them(rounds: Rounds) -> None:
    """Then any reader sees the same rows, one that knows no such deletes too, and files of deletes are gone."""
    delete(rounds, 0, pa.table({"id": pa.array([1, 3], pa.int64())}))
    before = read(rounds, "id", "name")
    assert isinstance(rounds.table, Compacts)
    done = rounds.table.compact_fully(lambda _: None)
    assert (done.deletes, done.after.files) == (1, 1)
    assert read(rounds, "id", "name") == before
    table = pyiceberg_table(rounds.warehouse)
    assert table.inspect.delete_files().num_rows == 0
    assert sorted(row["id"] for row in table.scan().to_arrow().to_pylist()) == [row["id"] for row in before]
