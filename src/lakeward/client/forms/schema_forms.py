"""Schemas as people write them: SQL text, a dict, an Arrow schema, pairs, or a Schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType
from lakeward.model.schema import Column, Schema
from lakeward.model.type_text import parse_columns, parse_type


def schema_of(given: Any, primary_key: Sequence[str] | str | None = ()) -> Schema:
    """The schema that was meant; a primary key given apart wins over one in the text."""
    primary_key = names_of(primary_key)
    if isinstance(given, Schema):
        return Schema.of(given.columns, primary_key or given.primary_key, given.auto_increment)
    key: Sequence[str] = ()
    if isinstance(given, str):
        columns, key = parse_columns(given)
    else:
        columns = columns_of(given)
    if not columns:
        raise ErrorCode.INVALID_TABLE.error("A table needs at least one column.")
    for number, column in enumerate(columns, 1):
        if not column.name:
            raise ErrorCode.INVALID_TABLE.error(
                f"Column {number} has no name; give it one, or leave it out (pandas writes its index so, but for "
                "index=False)."
            )
    return Schema.of(columns, primary_key or key)


def names_of(given: Iterable[str] | str | None) -> tuple[str, ...]:
    """Columns by name: several, none, or one as it is."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def columns_of(given: Any) -> list[Column]:
    """The columns that were meant, ids not assigned yet."""
    if isinstance(given, Schema):
        return list(given.columns)
    if isinstance(given, str):
        return list(parse_columns(given)[0])
    if isinstance(given, Mapping):
        return [Column(str(name), _type_of(type_)) for name, type_ in given.items()]
    if _is_arrow_schema(given):
        from lakeward.records.arrow.arrow_types import schema_of_arrow

        return list(schema_of_arrow(given).columns)
    if isinstance(given, Iterable) and not hasattr(given, "columns"):  # a data frame gives its names alone
        return [_column_of(item) for item in given]
    raise _not_a_schema(given)


def _column_of(item: Any) -> Column:
    if isinstance(item, Column):
        return item
    if isinstance(item, str):
        columns, _ = parse_columns(item)
        (column,) = columns
        return column
    if isinstance(item, tuple) and len(item) == 2:
        return Column(str(item[0]), _type_of(item[1]))
    raise _not_a_schema(item)


def _type_of(given: Any) -> DataType:
    if isinstance(given, DataType):
        return given
    if isinstance(given, str):
        return parse_type(given)
    if type(given).__module__.split(".", 1)[0] == "pyarrow":
        from lakeward.records.arrow.arrow_types import data_type

        return data_type(given)
    raise _not_a_schema(given)


def _is_arrow_schema(given: Any) -> bool:
    # Without importing Arrow: who passes a pyarrow.Schema has loaded it already.
    return type(given).__module__.split(".", 1)[0] == "pyarrow" and type(given).__name__ == "Schema"


def _not_a_schema(given: Any) -> Exception:
    return ErrorCode.INVALID_TABLE.error(
        f"{type(given).__name__} is not a schema; give text such as 'id INT, name STRING', a dict of names and types, "
        "a pyarrow.Schema (that of rows is pyarrow.table(rows).schema) or a lakeward.Schema."
    )
