"""What a cluster does not store of a definition, as custom properties of its table, by the keys of Flink's catalog.

schema.2.name = total                             a computed column, by its place among physical and computed ones
schema.2.expr = price * amount
schema.watermark.0.rowtime = at                   the watermark
schema.watermark.0.strategy.expr = at - INTERVAL '5' SECOND
schema.watermark.0.strategy.data-type = TIMESTAMP(3)
lakeward.schema.0.name = offset                   a metadata column, which Flink's catalog has no keys for, by its
lakeward.schema.0.metadata = offset               place among all columns
lakeward.schema.0.data-type = BIGINT
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from lakeward.language.grammar import parse_script
from lakeward.language.grammar.dialect import ScriptDialect
from lakeward.language.grammar.tree.trees import TEXT
from lakeward.language.place import ScriptError
from lakeward.language.statements.create_table import (
    ColumnDefinition,
    ComputedColumn,
    CreateTable,
    MetadataColumn,
    PhysicalColumn,
    Watermark,
)
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.type_text import parse_type

SCHEMA_PREFIXES = ("schema.", "lakeward.schema.")
_WATERMARK = "schema.watermark.0."
_OWN, _METADATA_OWN = "schema.{}.{}", "lakeward.schema.{}.{}"


def schema_properties(table: TableDefinition) -> dict[str, str]:
    """The properties that say what the columns of a cluster's table do not."""
    found: dict[str, str] = {}
    known_to_flink = [column for column in table.columns if not isinstance(column, MetadataColumn)]
    for place, column in enumerate(known_to_flink):
        if isinstance(column, ComputedColumn):
            parts = {"name": column.name, "expr": expression_text(column.expression), "comment": column.comment}
            found |= {_OWN.format(place, key): value for key, value in parts.items() if value is not None}
    for place, told in enumerate(table.columns):
        if isinstance(told, MetadataColumn):
            virtual = "true" if told.is_virtual else None
            parts = {"name": told.name, "metadata": told.key, "data-type": str(told.type), "virtual": virtual}
            parts["comment"] = told.comment
            found |= {_METADATA_OWN.format(place, key): value for key, value in parts.items() if value is not None}
    if table.watermark is not None:
        found[f"{_WATERMARK}rowtime"] = table.watermark.column
        found[f"{_WATERMARK}strategy.expr"] = expression_text(table.watermark.expression)
        types = {column.name: column.type for column in table.physical}
        time = types.get(table.watermark.column)
        found[f"{_WATERMARK}strategy.data-type"] = "TIMESTAMP(3)" if time is None else str(time.as_nullable())
    return found


def expression_text(tree: exp.Expression) -> str:
    """An expression as it was written, or as it can be read again."""
    return str(tree.meta.get(TEXT) or tree.sql(dialect=ScriptDialect))


def with_schema_properties(
    physical: Sequence[PhysicalColumn], properties: Mapping[str, str]
) -> tuple[tuple[ColumnDefinition, ...], Watermark | None]:
    """All columns in their order, and the watermark; an expression that cannot be read here is left out."""
    columns: list[ColumnDefinition] = list(physical)
    for place, parts in _by_number(properties, "schema."):
        expression = _computed_column(parts.get("name"), parts.get("expr"), parts.get("comment"))
        if expression is not None:
            columns.insert(place, expression)
    for place, parts in _by_number(properties, "lakeward.schema."):
        type_ = parse_type(parts["data-type"])
        is_virtual = parts.get("virtual") == "true"
        columns.insert(place, MetadataColumn(parts["name"], type_, parts["metadata"], is_virtual, parts.get("comment")))
    return tuple(columns), _watermark(columns, properties)


def _by_number(properties: Mapping[str, str], prefix: str) -> Iterable[tuple[int, dict[str, str]]]:
    """`<prefix><number>.<key>`: the parts of each number, in order."""
    found: dict[int, dict[str, str]] = {}
    for key, value in properties.items():
        number, _, part = key.removeprefix(prefix).partition(".")
        if key.startswith(prefix) and number.isdecimal():
            found.setdefault(int(number), {})[part] = value
    return sorted((place, parts) for place, parts in found.items() if "name" in parts)


def _computed_column(name: str | None, text: str | None, comment: str | None) -> ComputedColumn | None:
    if name is None or text is None:
        return None
    made = _parse(f"{_in_backticks(name)} AS {text}")
    column = made.columns[0] if made is not None else None
    return replace(column, comment=comment) if isinstance(column, ComputedColumn) else None


def _watermark(columns: Sequence[ColumnDefinition], properties: Mapping[str, str]) -> Watermark | None:
    column, text = properties.get(f"{_WATERMARK}rowtime"), properties.get(f"{_WATERMARK}strategy.expr")
    if column is None or text is None:
        return None
    names = ", ".join(f"{_in_backticks(each.name)} STRING" for each in columns)
    rowtime = ".".join(_in_backticks(part) for part in column.split("."))
    made = _parse(f"{names}, WATERMARK FOR {rowtime} AS {text}")
    return None if made is None else made.watermark


def _parse(inside: str) -> CreateTable | None:
    try:
        (made,) = parse_script(f"CREATE TABLE t ({inside})")
    except ScriptError:
        return None
    return made if isinstance(made, CreateTable) else None


def _in_backticks(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
