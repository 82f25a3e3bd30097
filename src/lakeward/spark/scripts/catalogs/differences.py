"""How a definition differs from the table that is there already, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.language.statements.create_table import (
    ColumnDefinition,
    ComputedColumn,
    Distribution,
    MetadataColumn,
    PhysicalColumn,
    Watermark,
)
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.secrets import is_of_secret
from lakeward.spark.scripts.catalogs.schema_properties import expression_text


def differences(wanted: TableDefinition, there: TableDefinition) -> Iterator[str]:
    """All that a definition says other than the table that is there."""
    own, other = [_column(column) for column in wanted.physical], [_column(column) for column in there.physical]
    if own != other:
        yield f"its columns are {', '.join(other)}, not {', '.join(own)}"
    yield from generated_differences(wanted, there)
    for what, mine, its in (
        ("primary key", _names(wanted.primary_key), _names(there.primary_key)),
        ("partitions", _names(wanted.partitioned_by), _names(there.partitioned_by)),
        ("distribution", _distribution(wanted.distribution), _distribution(there.distribution)),
        ("comment", wanted.comment or "nothing", there.comment or "nothing"),
    ):
        if mine != its:
            yield f"its {what}: {its}, not {mine}"
    for key in sorted({*wanted.options, *there.options}):
        if wanted.options.get(key) != there.options.get(key):
            yield f"its option '{key}': {_option(key, there)}, not {_option(key, wanted)}"


def generated_differences(wanted: TableDefinition, there: TableDefinition) -> Iterator[str]:
    """Of what is computed when the table is read: columns and the watermark."""
    own, other = ({column.name: column for column in one.columns} for one in (wanted, there))
    for name in dict.fromkeys([*own, *other]):
        mine, its = own.get(name), other.get(name)
        if isinstance(mine, PhysicalColumn | None) and isinstance(its, PhysicalColumn | None):
            continue
        if mine is None and its is not None:
            yield f"it has a further column {_column(its)}"
        elif its is None and mine is not None:
            yield f"it has no column {_column(mine)}"
        elif mine is not None and its is not None and not _is_same(mine, its):
            yield f"its column is {_column(its)}, not {_column(mine)}"
    if _mark(wanted.watermark) != _mark(there.watermark):
        yield f"its watermark: {_mark(there.watermark)}, not {_mark(wanted.watermark)}"


def _is_same(mine: ColumnDefinition, its: ColumnDefinition) -> bool:
    if isinstance(mine, ComputedColumn) and isinstance(its, ComputedColumn):
        return bool(mine.expression == its.expression)
    return _column(mine) == _column(its)


def _column(column: ColumnDefinition) -> str:
    match column:
        case ComputedColumn(name, expression):
            return f"{name} AS {expression_text(expression)}"
        case MetadataColumn(name, kind, key, is_virtual):
            return f"{name} {kind.as_nullable()} METADATA FROM '{key}'{' VIRTUAL' * is_virtual}"
        case _:
            return f"{column.name} {column.type}"


def _mark(mark: Watermark | None) -> str:
    return "none" if mark is None else f"FOR {mark.column} AS {mark.expression.sql()}"


def _names(columns: tuple[str, ...]) -> str:
    return f"({', '.join(columns)})" if columns else "none"


def _distribution(distribution: Distribution | None) -> str:
    if distribution is None:
        return "none"
    return f"BY {_names(distribution.columns)} INTO {distribution.buckets or 'any number of'} BUCKETS"


def _option(key: str, table: TableDefinition) -> str:
    if key not in table.options:
        return "not set"
    return "a secret" if is_of_secret(key) else f"'{table.options[key]}'"
