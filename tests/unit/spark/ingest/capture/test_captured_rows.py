"""Events become batches in the columns that were declared, in Spark's types."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pytest

from lakeward.capture.port import ChangeKind, SchemaChange, SchemaChangeKind, SourceTable, TableId, TableRows
from lakeward.errors import LakewardError
from lakeward.model.data_types import BIGINT, INT, STRING, TIMESTAMP
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.spark.ingest.capture.captured_rows import CapturedRows, join_batches, readable_schema
from lakeward.spark.table.spark_arrow import spark_arrow_schema

ORDERS = SourceTable(
    TableId("shop", "orders"),
    Schema.of([("id", INT()), ("name", STRING()), ("at", TIMESTAMP(0)), ("secret", STRING())], ["id"]),
)
AT = datetime(2026, 11, 16, 7)
ROWS = pa.RecordBatch.from_pylist(
    [{"id": 1, "name": "a", "at": AT, "secret": "x"}, {"id": 2, "name": None, "at": None, "secret": "y"}],
    arrow_schema(ORDERS.schema),
)
KINDS = pa.array([ChangeKind.DELETE, ChangeKind.INSERT], pa.uint8())
DECLARED = Schema.of(
    [("_change_type", STRING()), ("from_table", STRING()), ("at", TIMESTAMP(3)), ("id", BIGINT()), ("db", STRING())]
)


def test_columns_are_chosen_widened_and_ordered() -> None:
    """By name; `_change_type` and metadata stand where they were declared."""
    shown = CapturedRows(DECLARED, {"from_table": "table_name", "db": "database_name"})
    (batch,) = shown.batches([TableRows(ORDERS, ROWS, KINDS)])
    assert batch.schema == spark_arrow_schema(DECLARED)
    assert batch.to_pylist() == [
        {"_change_type": "delete", "from_table": "orders", "at": AT, "id": 1, "db": "shop"},
        {"_change_type": "insert", "from_table": "orders", "at": None, "id": 2, "db": "shop"},
    ]


def test_the_database_of_a_schema_has_its_own_name() -> None:
    """Tables of PostgreSQL are in schemas of a database."""
    declared = Schema.of([("db", STRING()), ("space", STRING())])
    shown = CapturedRows(declared, {"db": "database_name", "space": "schema_name"}, "warehouse")
    (batch,) = shown.batches([TableRows(ORDERS, ROWS)])
    assert batch.to_pylist()[0] == {"db": "warehouse", "space": "shop"}


def test_an_altered_table_goes_on_as_long_as_it_fits() -> None:
    """A new column is not asked for; one that was declared and is gone is an error."""
    wider = SourceTable(ORDERS.id, Schema.of([*ORDERS.schema.columns[:3], ("more", INT())], ["id"]))
    shown = CapturedRows(Schema.of([("id", INT()), ("name", STRING())]))
    assert list(shown.batches([SchemaChange(SchemaChangeKind.ALTER, ORDERS.id, ORDERS, wider)])) == []
    narrower = SourceTable(ORDERS.id, Schema.of([("id", INT())], ["id"]))
    with pytest.raises(LakewardError, match="there is no column 'name' there"):
        list(shown.batches([SchemaChange(SchemaChangeKind.ALTER, ORDERS.id, ORDERS, narrower)]))


@pytest.mark.parametrize("kind", [SchemaChangeKind.TRUNCATE, SchemaChangeKind.DROP])
def test_what_rows_cannot_show_is_an_error(kind: SchemaChangeKind) -> None:
    """Rows that were read would stay."""
    with pytest.raises(LakewardError, match=r"Table shop\.orders of the database was .* begin the stream anew"):
        list(CapturedRows(DECLARED).batches([SchemaChange(kind, ORDERS.id, ORDERS)]))


def test_a_delete_without_the_row_before_has_only_its_key() -> None:
    """So other columns may be NULL, whatever the database says."""
    columns = [("id", INT()), ("name", STRING().not_null())]
    bare = SourceTable(ORDERS.id, Schema.of(columns, ["id"]), has_before=False)
    assert [c.type.nullable for c in readable_schema(bare).columns] == [False, True]
    whole = SourceTable(ORDERS.id, Schema.of(columns, ["id"]))
    assert [c.type.nullable for c in readable_schema(whole).columns] == [False, False]


def test_small_batches_are_joined() -> None:
    """All rows come, in their order."""
    small = [pa.RecordBatch.from_pydict({"n": list(range(n, n + 3000))}) for n in range(0, 60_000, 3000)]
    joined = list(join_batches(small))
    assert [batch.num_rows for batch in joined] == [21_000, 21_000, 18_000]
    assert pa.Table.from_batches(joined)["n"].to_pylist() == list(range(60_000))
    assert list(join_batches([])) == []
