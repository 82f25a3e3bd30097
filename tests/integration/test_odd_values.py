"""Values, frames and names that used to be dropped, cut or accepted in vain."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.errors import LakewardError
from lakeward.model.data_types import ARRAY, INT, ROW

pytestmark = pytest.mark.slow


@pytest.fixture
def lake(server: ServerProcess, tmp_path: Path) -> Warehouse:
    """A connection that knows its lake."""
    return Warehouse(server.bootstrap, tmp_path / "lake", is_told=True)


def test_a_time_below_the_millisecond_is_refused_by_every_table(lake: Warehouse, database: str) -> None:
    """Rows keep TIME in milliseconds; the digits would be cut off."""
    keyed = lake.conn.create_table(f"{database}.k", "id INT NOT NULL, t TIME(6)", primary_key=["id"], buckets=1)
    log = lake.conn.create_table(f"{database}.l", "id INT, t ARRAY<TIME(9)>", buckets=1)
    with pytest.raises(LakewardError, match=r"'t' is TIME\(6\), and tables keep TIME in milliseconds"):
        keyed.upsert([{"id": 1, "t": dt.time(1, 2, 3, 456_789)}])
    with pytest.raises(LakewardError, match="milliseconds"):
        log.append(pa.table({"id": pa.array([1], pa.int32()), "t": pa.array([[1]], pa.list_(pa.time64("ns")))}))
    keyed.upsert([{"id": 1, "t": dt.time(1, 2, 3, 456_000)}])
    assert keyed.lookup({"id": 1}).to_pylist() == [{"id": 1, "t": dt.time(1, 2, 3, 456_000)}]


def test_nanoseconds_do_not_go_into_iceberg_unnoticed(lake: Warehouse, database: str) -> None:
    """The round says which row; a table for letters takes it, with what it was."""
    table = lake.conn.create_table(f"{database}.ns", "id INT, ts TIMESTAMP(9)", buckets=1, properties=TIERED)
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "ts": pa.array([1000, 1001], pa.timestamp("ns"))})
    table.append(rows)
    with pytest.raises(
        LakewardError, match=r"bucket 0, offset 1: Column 'ts' does not fit into the lake, which has timestamp\[us\]"
    ):
        lake.round(table)
    lake.conn.alter_table(str(table.path), set={"lakeward.tiering.dead-letter-table": f"{database}.letters"})
    lake.round(lake.conn.table(str(table.path)))
    (letter,) = lake.conn.sql(f"SELECT row_offset, reason FROM {database}.letters").to_pylist()
    assert letter["row_offset"] == 1


def test_in_on_a_moment_with_a_zone_needs_no_pytz(
    lake: Warehouse, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB asks for it when it filters Arrow; it is none of our dependencies."""
    monkeypatch.setitem(sys.modules, "pytz", None)
    table = lake.conn.create_table(f"{database}.z", "id INT, ts TIMESTAMP_LTZ(6)", buckets=1)
    table.append([{"id": 1, "ts": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}, {"id": 2, "ts": None}])
    moments = "'2026-01-01 00:00:00+00', '2027-01-01 00:00:00+00'"
    assert lake.conn.sql(f"SELECT id FROM {table.path} WHERE ts IN ({moments})").to_pylist() == [{"id": 1}]


def test_categories_of_polars_are_texts(lake: Warehouse, database: str) -> None:
    """Categorical and Enum are dictionaries of views, which Arrow does not cast by itself."""
    table = lake.conn.create_table(f"{database}.c", "a STRING, b STRING", buckets=1)
    schema = {"a": pl.Categorical, "b": pl.Enum(["x", "y"])}
    table.append(pl.DataFrame({"a": ["p", None], "b": ["y", "x"]}, schema=schema))
    found = lake.conn.sql(f"SELECT * FROM {table.path}").to_pylist()
    assert found == [{"a": "p", "b": "y"}, {"a": None, "b": "x"}]


def test_a_named_index_of_pandas_is_a_column(lake: Warehouse, database: str) -> None:
    """It was left out, and its column became NULL. One that the table does not have is refused like any column."""
    table = lake.conn.create_table(f"{database}.i", "id BIGINT, s STRING", buckets=1)
    frame = pd.DataFrame({"id": [7], "s": ["q"]})
    for one in (frame, frame.set_index("id"), frame.set_index(["id", "s"]), frame.set_index("id", drop=False)):
        table.append(one)
    assert lake.conn.sql(f"SELECT DISTINCT id, s, count(*) AS n FROM {table.path} GROUP BY ALL").to_pylist() == [
        {"id": 7, "s": "q", "n": 4}
    ]
    with pytest.raises(LakewardError, match="no column 'other'"):
        table.append(frame.rename_axis("other"))


@pytest.mark.parametrize(
    ("type_", "wrong", "right"),
    [("DATE", "2026-1-1", "2026-01-01"), ("INT", "01", "1"), ("TINYINT", "300", "-5"), ("BOOLEAN", "yes", True)],
)
def test_a_partition_that_no_row_belongs_to_is_not_created(
    lake: Warehouse, database: str, type_: str, wrong: str, right: object
) -> None:
    """Its name is no value of the column as rows would name it."""
    table = lake.conn.create_table(f"{database}.p_{type_}", f"id INT, p {type_}", partition_by=["p"], buckets=1)
    with pytest.raises(LakewardError, match="can have no partition p="):
        table.create_partition({"p": wrong})
    table.create_partition({"p": right})
    assert len(table.partitions()) == 1


def test_a_row_without_fields_is_refused_where_it_would_be_tiered(lake: Warehouse, database: str) -> None:
    """When the table is created, when a column is added; without a lake it may be."""
    make = lake.conn.create_table
    with pytest.raises(LakewardError, match="Column 'r' is ARRAY<ROW<>>: a ROW without fields"):
        make(f"{database}.e", {"id": INT(), "r": ARRAY(ROW([]))}, buckets=1, properties=TIERED)
    table = make(f"{database}.f", "id INT", buckets=1, properties=TIERED)
    with pytest.raises(LakewardError, match="a ROW without fields"):
        lake.conn.alter_table(str(table.path), add_columns={"r": ROW([])})
    plain: lakeward.Table = make(f"{database}.g", {"id": INT(), "r": ROW([])}, buckets=1)
    plain.append([{"id": 1, "r": {}}])


@pytest.mark.parametrize("where", ["f > 1", "NOT (f <= 1)", "r.f > 1", "f BETWEEN 2 AND 'NaN'::DOUBLE"])
def test_nan_is_the_largest_number_whether_it_is_hot_or_cold(lake: Warehouse, database: str, where: str) -> None:
    """As DuckDB has it; Arrow, which it hands filters to, would drop the row."""
    columns = "id INT, f DOUBLE, r ROW<f FLOAT>"
    table = lake.conn.create_table(f"{database}.nan", columns, buckets=1, properties=TIERED)
    table.append([{"id": 1, "f": float("nan"), "r": {"f": float("nan")}}, {"id": 2, "f": -0.0, "r": None}])
    sql = f"SELECT id FROM {table.path} WHERE {where}"
    assert lake.conn.sql(sql).to_pylist() == [{"id": 1}]
    lake.round(table)
    assert lake.conn.sql(sql).to_pylist() == [{"id": 1}]
