"""What every lake format must do, seen through readers that never heard of us."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from lake_tables import TABLE_ID, Home, Rounds, S3Warehouse, read_by_duckdb, read_by_pyiceberg, table_info
from paimon_readers import read_by_paimon_rust, read_by_pypaimon

from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.formats import lake_format
from lakeward.lake.port import LakePlace
from lakeward.lake.round_properties import RoundProperties
from lakeward.model.bucket import TableBucket
from lakeward.model.data_types import STRING
from lakeward.model.schema import Column
from lakeward.model.table import TableInfo

READERS = {
    "iceberg": (read_by_pyiceberg, read_by_duckdb),
    "paimon": (read_by_paimon_rust, read_by_pypaimon),
}
LOG = {"id": "BIGINT", "name": "STRING"}
Opened = Callable[[TableInfo], Rounds]


@pytest.fixture(params=["directory", "s3"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """A new warehouse: a directory, or a folder of a bucket."""
    return tmp_path if request.param == "directory" else S3Warehouse(request.getfixturevalue("s3"))


@pytest.fixture(params=READERS)
def opened(request: pytest.FixtureRequest, home: Home) -> Opened:
    """Opens a table in a new warehouse of each format."""
    return lambda info: Rounds(lake_format(request.param), home, info)


def seen(rounds: Rounds, *columns: str) -> list[tuple[Any, ...]]:
    """The rows in these columns as every reader sees them."""
    answers = [
        sorted(tuple(row[c] for c in columns) for row in read(rounds.warehouse)) for read in READERS[rounds.format.name]
    ]
    assert all(answer == answers[0] for answer in answers)
    return answers[0]


@pytest.mark.covering
def test_the_rows_of_a_log_are_all_there_with_bucket_and_offset(opened: Opened) -> None:
    """Two rounds of two buckets are appended; equal rows stay two."""
    rounds = opened(table_info(LOG))
    rounds.round({LakePlace(0): [{"id": 1, "name": "a"}, {"id": 1, "name": "a"}], LakePlace(1): [{"id": 2}]})
    rounds.round({LakePlace(0): [{"id": 3, "name": "c"}]})
    assert seen(rounds, "__bucket", "__offset", "id") == [(0, 0, 1), (0, 1, 1), (0, 2, 3), (1, 0, 2)]


def test_a_snapshot_says_how_far_each_bucket_is(opened: Opened) -> None:
    """The lake's own snapshot is the truth of what has been tiered, found again by whoever opens the table."""
    rounds = opened(table_info(LOG))
    assert rounds.table.latest() is None
    made = rounds.round({LakePlace(0): [{"id": 1}], LakePlace(1): [{"id": 2}, {"id": 3}]})
    found = rounds.catalog.ensure(rounds.info).latest()
    assert found is not None
    assert (found.snapshot_id, found.tiering_epoch) == (made.snapshot_id, 1)
    assert found.offsets == {TableBucket(TABLE_ID, None, 0): 1, TableBucket(TABLE_ID, None, 1): 2}
    assert found.properties["commit-user"] == "__fluss_lake_tiering"


def test_files_that_were_not_committed_are_seen_by_nobody(opened: Opened) -> None:
    """A crash between files and commit leaves no row; discarding leaves no file either."""
    rounds = opened(table_info(LOG))
    rounds.round({LakePlace(0): [{"id": 1}]})
    before = set(rounds.warehouse.rglob("*.parquet"))
    written = rounds.write({LakePlace(0): [{"id": 2}]})
    assert seen(rounds, "id") == [(1,)]
    rounds.table.discard(written)
    assert set(rounds.warehouse.rglob("*.parquet")) == before


def test_a_round_that_comes_after_another_is_refused(opened: Opened) -> None:
    """Two services planned the same rows: the second commit fails, and no row is there twice."""
    rounds = opened(table_info(LOG))
    late = rounds.catalog.ensure(rounds.info)
    written = rounds.write({LakePlace(0): [{"id": 1}]})
    again = rounds.write({LakePlace(0): [{"id": 1}]})
    rounds.commit(written)
    with pytest.raises(LakeConflictError, match="first"):
        late.commit(again, RoundProperties(TABLE_ID, rounds.offsets, 9), after=None)
    assert seen(rounds, "id") == [(1,)]


def test_partitions_keep_their_rows_apart(opened: Opened) -> None:
    """A partitioned table is partitioned in the lake by the same column."""
    rounds = opened(table_info({**LOG, "dt": "STRING"}, partitions=["dt"], buckets=1))
    rounds.round(
        {
            LakePlace(0, ("2026-11-01",)): [{"id": 1, "dt": "2026-11-01"}],
            LakePlace(0, ("2026-11-02",)): [{"id": 2, "dt": "2026-11-02"}],
        }
    )
    assert seen(rounds, "dt", "id") == [("2026-11-01", 1), ("2026-11-02", 2)]


def test_the_last_change_of_a_key_is_its_row(opened: Opened) -> None:
    """Updates replace, deletes remove, within a round and across rounds."""
    rounds = opened(table_info({"id": "BIGINT NOT NULL", "name": "STRING"}, key="id", buckets=1))
    place = LakePlace(0)
    rounds.round({place: [{"id": i, "name": f"first {i}"} for i in range(5)]})
    rounds.round({place: [{"id": 1, "name": "old", "_": "+U"}, {"id": 1, "name": "new", "_": "+U"}]})
    rounds.round(
        {place: [{"id": 2, "_": "-D"}, {"id": 9, "name": "nine"}, {"id": 3, "_": "-D"}, {"id": 3, "name": "back"}]}
    )
    assert seen(rounds, "id", "name") == [(0, "first 0"), (1, "new"), (3, "back"), (4, "first 4"), (9, "nine")]


@pytest.mark.covering
def test_many_rounds_by_key_stay_right_while_files_are_tidied_up(opened: Opened) -> None:
    """After more rounds than a place may gather files, the rows are those of a plain dict, and files stay few."""
    rounds = opened(table_info({"id": "BIGINT NOT NULL", "name": "STRING"}, key="id", buckets=1))
    model: dict[int, str] = {}
    for number in range(20):
        rows: list[dict[str, Any]] = []
        for i in range(number, number + 10):
            if i % 4 == number % 4 and i in model:
                rows.append({"id": i, "_": "-D"})
                del model[i]
            else:
                rows.append({"id": i, "name": f"{number}-{i}", "_": "+U"})
                model[i] = f"{number}-{i}"
        rounds.round({LakePlace(0): rows})
    assert seen(rounds, "id", "name") == sorted(model.items())


@pytest.mark.covering
def test_a_partitioned_table_by_key_is_merged_partition_by_partition(opened: Opened) -> None:
    """The same id in two partitions is two rows, and a delete in one leaves the other."""
    info = table_info({"id": "BIGINT NOT NULL", "dt": "STRING NOT NULL", "name": "STRING"}, buckets=1)
    schema = replace(info.schema, primary_key=("id", "dt"))
    descriptor = replace(info.descriptor, schema=schema, partition_keys=("dt",), bucket_keys=("id",)).normalize()
    rounds = opened(replace(info, descriptor=descriptor))
    one, two = LakePlace(0, ("a",)), LakePlace(0, ("b",))
    rounds.round({one: [{"id": 1, "dt": "a", "name": "x"}], two: [{"id": 1, "dt": "b", "name": "y"}]})
    rounds.round({one: [{"id": 1, "dt": "a", "_": "-D"}], two: [{"id": 1, "dt": "b", "name": "z", "_": "+U"}]})
    assert seen(rounds, "dt", "id", "name") == [("b", 1, "z")]


def test_a_new_column_follows_and_is_null_in_old_rows(opened: Opened) -> None:
    """The lake's schema grows with the table's."""
    rounds = opened(table_info(LOG, buckets=1))
    rounds.round({LakePlace(0): [{"id": 1, "name": "a"}]})
    wider = rounds.info.schema.add_column(Column("city", STRING(), comment="where"))
    rounds.info = replace(rounds.info, descriptor=replace(rounds.info.descriptor, schema=wider))
    rounds.table = rounds.catalog.ensure(rounds.info)
    rounds.round({LakePlace(0): [{"id": 2, "name": "b", "city": "Oslo"}]})
    assert sorted(seen(rounds, "id", "city"), key=lambda row: row[0]) == [(1, None), (2, "Oslo")]


@pytest.mark.covering
def test_every_type_comes_back_as_it_was(opened: Opened) -> None:
    """One row with a value of every type, nested ones too; moments are kept to the microsecond."""
    moment = dt.datetime(2026, 11, 1, 10, 20, 30, 123456)
    values: dict[str, tuple[str, Any]] = {
        "flag": ("BOOLEAN", True),
        "tiny": ("TINYINT", -3),
        "small": ("SMALLINT", 300),
        "number": ("INT", 70000),
        "big": ("BIGINT", 1 << 40),
        "single": ("FLOAT", 1.5),
        "real": ("DOUBLE", 2.25),
        "code": ("CHAR(3)", "abc"),
        "text": ("STRING", "ä"),
        "fixed": ("BINARY(2)", b"\x01\x02"),
        "raw": ("BYTES", b"\x00\xff"),
        "price": ("DECIMAL(10, 2)", Decimal("12.30")),
        "huge": ("DECIMAL(30, 5)", Decimal("123456789012345678901234.12345")),
        "day": ("DATE", dt.date(2026, 11, 1)),
        "clock": ("TIME(3)", dt.time(1, 2, 3, 4000)),
        "local": ("TIMESTAMP(6)", moment),
        "instant": ("TIMESTAMP_LTZ(6)", moment.replace(tzinfo=dt.UTC)),
        "list": ("ARRAY<INT>", [1, None, 3]),
        "pairs": ("MAP<STRING, INT>", [("a", 1)]),
        "inner": ("ROW<x INT, y STRING>", {"x": 1, "y": "z"}),
    }
    rounds = opened(table_info({name: text for name, (text, _) in values.items()}, buckets=1))
    rounds.round({LakePlace(0): [{name: value for name, (_, value) in values.items()}]})
    for read in READERS[rounds.format.name]:
        (row,) = read(rounds.warehouse)
        for name, (_, value) in values.items():
            assert row[name] == value, (read.__name__, name)
