"""What a cluster does not store of a definition, by the keys of Flink's catalog."""

from __future__ import annotations

from lakeward.language.grammar import parse_script
from lakeward.language.statements.create_table import ComputedColumn, CreateTable, PhysicalColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import INT, TIMESTAMP
from lakeward.spark.scripts.catalogs.schema_properties import (
    expression_text,
    schema_properties,
    with_schema_properties,
)

TEXT = """CREATE TABLE t (
  place BIGINT METADATA FROM 'offset', id INT, doubled AS id * 2 COMMENT 'twice', ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"""


def definition() -> TableDefinition:
    """A table with all kinds of columns."""
    (made,) = parse_script(TEXT)
    assert isinstance(made, CreateTable)
    return TableDefinition(catalog="c", database="d", name="t", columns=made.columns, watermark=made.watermark)


def test_the_keys_are_those_of_flink() -> None:
    """Metadata columns, which it has no keys for, are not counted and have our own."""
    assert schema_properties(definition()) == {
        "schema.1.name": "doubled",
        "schema.1.expr": "id * 2",
        "schema.1.comment": "twice",
        "schema.watermark.0.rowtime": "ts",
        "schema.watermark.0.strategy.expr": "ts - INTERVAL '5' SECOND",
        "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
        "lakeward.schema.0.name": "place",
        "lakeward.schema.0.metadata": "offset",
        "lakeward.schema.0.data-type": "BIGINT",
    }


def test_they_are_read_back() -> None:
    """Columns in their order, and the watermark."""
    table = definition()
    columns, watermark = with_schema_properties(table.physical, schema_properties(table))
    assert (columns, watermark) == (table.columns, table.watermark)


def test_what_flink_wrote_is_read() -> None:
    """With backticks and types beside it."""
    physical = [PhysicalColumn("id", INT()), PhysicalColumn("orig_ts", TIMESTAMP(3))]
    columns, watermark = with_schema_properties(
        physical,
        {
            "schema.2.name": "compute_ts",
            "schema.2.expr": "`orig_ts` - INTERVAL '60' MINUTE",
            "schema.2.data-type": "TIMESTAMP(3)",
            "schema.watermark.0.rowtime": "compute_ts",
            "schema.watermark.0.strategy.expr": "`compute_ts` - INTERVAL '5' SECOND",
            "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
            "k1": "v1",
        },
    )
    assert columns[:2] == tuple(physical)
    assert isinstance(columns[2], ComputedColumn)
    assert expression_text(columns[2].expression) == "`orig_ts` - INTERVAL '60' MINUTE"
    assert watermark is not None
    assert (watermark.column, watermark.delay) == ("compute_ts", "5 seconds")


def test_an_expression_that_cannot_be_read_is_left_out() -> None:
    """The table can be read all the same."""
    physical = [PhysicalColumn("id", INT())]
    columns, watermark = with_schema_properties(
        physical,
        {
            "schema.1.name": "x",
            "schema.1.expr": "((",
            "schema.watermark.0.rowtime": "id",
            "schema.watermark.0.strategy.expr": "id + 1",
        },
    )
    assert (columns, watermark) == (tuple(physical), None)
