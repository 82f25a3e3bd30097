"""Which columns an upsert writes, and that nothing is overwritten with NULL by accident."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from fake_cluster import table_info

from lakeward.client.upsert.written_columns import WrittenColumns
from lakeward.errors import InvalidError, UnsupportedError
from lakeward.model.data_types import BIGINT, INT, STRING
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath

INFO = table_info("id BIGINT, a INT, b STRING, PRIMARY KEY (id) NOT ENFORCED")
COUNTED = TableInfo(
    TablePath("db", "t"),
    7,
    1,
    TableDescriptor(Schema.of([("id", STRING()), ("no", BIGINT()), ("x", INT())], ["id"], ["no"]), bucket_count=1),
    0,
    0,
)


def rows_of(data: Any, columns: list[str] | None = None, info: TableInfo = INFO) -> list[dict[str, Any]]:
    """What would be encoded."""
    return [row for batch in WrittenColumns(info, columns).batches(data) for row in batch.to_pylist()]


def test_whole_rows_have_no_target_columns() -> None:
    """Naming all columns is the same as naming none, but for what the data may lack."""
    assert WrittenColumns(INFO).positions == ()
    assert WrittenColumns(INFO, ["b", "id", "a"]).positions == ()
    assert WrittenColumns(INFO, ["b", "id"]).positions == (0, 2)
    assert rows_of([{"id": 1}], ["id", "a", "b"]) == [{"id": 1, "a": None, "b": None}]


@pytest.mark.parametrize(
    "data",
    [
        [{"id": 1, "b": "x"}],
        [{"id": 1, "a": 1, "b": "x"}, {"id": 2, "b": "y"}],
        iter([{"id": 1, "b": "x"}]),
        {"id": 1, "b": "x"},
        {"id": [1], "b": ["x"]},
        pa.table({"id": [1], "b": ["x"]}),
        pd.DataFrame({"id": [1], "b": ["x"]}),
    ],
    ids=lambda d: type(d).__name__,
)
def test_a_column_left_out_is_refused_unless_columns_are_named(data: Any) -> None:
    """Whatever the form; a row among others that have the column is found too."""
    with pytest.raises(InvalidError, match=r"lacks column 'a'.*columns=\["):
        rows_of(data)


def test_named_columns_are_written_and_nothing_else() -> None:
    """The others are NULL on the wire, also where the data has them."""
    expected = [{"id": 1, "a": None, "b": "x"}]
    assert rows_of([{"id": 1, "b": "x", "a": 9, "z": "?"}], ["id", "b"]) == expected
    assert rows_of(pa.table({"b": ["x"], "id": [1]}), ["b", "id"]) == expected
    assert rows_of({"id": 1, "b": "x"}, ["id", "b"]) == expected


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["a"], "lack 'id' of the primary key"),
        (["id", "zzz"], "no column 'zzz'"),
        ("a", "lack 'id'"),
    ],
)
def test_columns_that_cannot_be_written_alone(columns: Any, says: str) -> None:
    """Found before there is any data."""
    with pytest.raises(InvalidError, match=says):
        WrittenColumns(INFO, columns)


def test_a_required_column_forbids_partial_updates() -> None:
    """The server would refuse; the message says which column it is."""
    info = table_info("id BIGINT, a INT NOT NULL, b STRING, PRIMARY KEY (id) NOT ENFORCED")
    with pytest.raises(InvalidError, match="'a' is NOT NULL"):
        WrittenColumns(info, ["id", "a"])


def test_the_server_fills_auto_increment_columns() -> None:
    """They are not written, and not deleted."""
    written = WrittenColumns(COUNTED)
    assert written.positions == (0, 2)
    assert rows_of([{"id": "k", "x": 1}], info=COUNTED) == [{"id": "k", "no": None, "x": 1}]
    with pytest.raises(InvalidError, match=r"'no' of db\.t is filled by the server"):
        rows_of([{"id": "k", "no": 1, "x": 1}], info=COUNTED)
    with pytest.raises(InvalidError, match="'no' is filled by the server"):
        WrittenColumns(COUNTED, ["id", "no"])
    with pytest.raises(UnsupportedError, match="columns="):
        written.check_delete()
    WrittenColumns(COUNTED, ["id", "x"]).check_delete()
    WrittenColumns(INFO).check_delete()


def test_negative_zero_in_a_key_is_zero() -> None:
    """In the row as in the key, or the row would be found under another key after a recovery."""
    info = table_info("k DOUBLE, v DOUBLE, PRIMARY KEY (k) NOT ENFORCED")
    (row,) = rows_of([{"k": -0.0, "v": -0.0}], info=info)
    assert math.copysign(1, row["k"]) == 1
    assert math.copysign(1, row["v"]) == -1, "values stay as they are"
