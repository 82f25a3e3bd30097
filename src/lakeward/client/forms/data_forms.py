"""Rows as people hold them → Arrow batches that fit a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import pyarrow as pa

from lakeward.client.forms.few_rows import few_rows
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema, check_distinct, conform

Rows: TypeAlias = pa.RecordBatch | pa.Table

_ROWS_AT_ONCE = 4096
_PLAIN = {
    pa.bool_(): bool,
    pa.int8(): int,
    pa.int16(): int,
    pa.int32(): int,
    pa.int64(): int,
    pa.float64(): float,
    pa.string(): str,
    pa.binary(): bytes,
}
_FEW_ROWS = 100
#: What Arrow raises for values that it cannot take, and Python: of half a character, of a number that is too large.
_MISFITS = (ValueError, TypeError, OverflowError, pa.ArrowNotImplementedError)


def is_quick(data: Any) -> bool:
    """Whether turning this into batches takes next to no time: it is Arrow already, or a handful of rows."""
    if isinstance(data, dict):
        return not _is_all_columns(data)
    return isinstance(data, pa.RecordBatch | pa.Table) or (isinstance(data, list) and len(data) <= _FEW_ROWS)


def batches_of(data: Any, schema: Schema) -> Iterator[pa.RecordBatch]:
    """The rows as Arrow batches with the table's columns, order and types; what does not fit is refused."""
    few = few_rows(data, schema)
    if few is not None:
        yield few
        return
    for rows in arrow_of(data, schema):
        yield from batches_in(conform(rows, schema))


def batches_in(rows: Rows) -> Iterator[pa.RecordBatch]:
    """The batches that the rows are."""
    if isinstance(rows, pa.RecordBatch):
        yield rows
    else:
        yield from rows.to_batches()


def arrow_of(data: Any, schema: Schema, each_has: Iterable[str] = ()) -> Iterator[Rows]:
    """The rows as Arrow, with the names they came with; `each_has` names what no single dict may lack."""
    required = frozenset(each_has)
    if type(data).__name__ == "LazyFrame":
        raise ErrorCode.INVALID_TARGET_COLUMN.error("A LazyFrame has no rows yet; call .collect() first.")
    if _is_pandas(data) and len(data):
        yield _of_pandas(data, schema)
    elif (frame := frame_as_table(data)) is not None:
        yield frame
    elif isinstance(data, pa.RecordBatchReader):
        yield from data
    elif isinstance(data, Mapping):
        yield columns_as_table(data, schema) if _is_all_columns(data) else _of_rows([data], schema, required)
    elif isinstance(data, str | bytes):
        raise _not_rows(data)
    elif isinstance(data, Sequence) and all(isinstance(row, Mapping) for row in data):
        yield _of_rows(data, schema, required)
    elif isinstance(data, Iterable):
        yield from _of_pieces(data, schema, required)
    else:
        raise _not_rows(data)


def frame_as_table(data: Any) -> Rows | None:
    """A table or data frame of any library as Arrow; None for anything else."""
    if isinstance(data, pa.RecordBatch | pa.Table):
        return data
    if _is_pandas(data):
        if not len(data):  # what pandas takes for the types of no values says nothing
            return pa.table({str(name): pa.nulls(0) for name in _with_index(data).columns})
        return pa.Table.from_pandas(_with_index(data), preserve_index=False)
    if isinstance(data, pa.RecordBatchReader | pa.Array | pa.ChunkedArray) or type(data).__name__ == "Series":
        return None
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):  # polars, duckdb, …
        return pa.table(data)
    return None


def _of_pandas(frame: Any, schema: Schema) -> Rows:
    """What pandas has, by the types of its own where they say enough."""
    target = arrow_schema(schema)
    maps = {name for name in target.names if "map<" in str(target.field(name).type)}  # lists of pairs, or dicts
    names = [str(name) for name in _with_index(frame).columns]
    check_distinct(names)
    if maps.isdisjoint(names):
        try:
            table = pa.Table.from_pandas(_with_index(frame), preserve_index=False)
            return _without_types_of_nothing(_with_nanoseconds(table, _with_index(frame)))
        except _MISFITS:
            pass  # a column of mixed values: said below, with the column's type
    columns = {str(name): column for name, column in _with_index(frame).items()}
    return columns_as_table(columns, schema)


def _with_nanoseconds(table: pa.Table, frame: Any) -> pa.Table:
    """Of pandas' moments in a column of objects Arrow would keep the microseconds alone, and not say so."""
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and frame.dtypes.iloc[place].kind == "O":
            finest = pa.timestamp("ns", field.type.tz)
            with suppress(pa.ArrowInvalid):  # a year that has no nanoseconds, and therefore nothing to lose
                whole = pa.array(frame.iloc[:, place], finest, from_pandas=True)
                table = table.set_column(place, field.name, whole)
    return table


def _without_types_of_nothing(table: pa.Table) -> pa.Table:
    """A column of NaN alone is one of numbers in pandas, whatever it was to hold: the type says nothing."""
    for place, column in enumerate(table.columns):
        if column.null_count == table.num_rows:
            table = table.set_column(place, table.column_names[place], pa.nulls(table.num_rows))
    return table


def _of_pieces(pieces: Iterable[Any], schema: Schema, required: frozenset[str]) -> Iterator[Rows]:
    """Pieces of any form; single rows are gathered, since a table of one row costs as much as one of a thousand."""
    rows: list[Mapping[str, Any]] = []
    for piece in pieces:
        if isinstance(piece, Mapping) and not _holds_columns(piece):
            rows.append(piece)
            if len(rows) == _ROWS_AT_ONCE:
                yield _of_rows(rows, schema, required)
                rows = []
            continue
        if rows:
            yield _of_rows(rows, schema, required)
            rows = []
        yield from arrow_of(piece, schema, required)
    if rows:
        yield _of_rows(rows, schema, required)


def _holds_columns(piece: Mapping[Any, Any]) -> bool:
    return bool(piece) and all(isinstance(v, list | pa.Array | pa.ChunkedArray) for v in piece.values())


def _is_all_columns(data: Mapping[Any, Any]) -> bool:
    """Whether a dict is many rows, column by column; one with a plain value in it is a single row."""
    return all(hasattr(v, "__len__") and not isinstance(v, str | bytes | bytearray | Mapping) for v in data.values())


def _of_rows(rows: Sequence[Mapping[str, Any]], schema: Schema, required: frozenset[str]) -> pa.Table:
    if required:
        for row in rows:
            if not required <= row.keys():
                raise lacks_columns(sorted(required - row.keys(), key=schema.names.index), f"{row!r:.100}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return columns_as_table({name: [row.get(name) for row in rows] for name in names}, schema)


def lacks_columns(names: Sequence[str], where: str) -> LakewardError:
    """The refusal of rows that would replace others without saying what becomes of some columns."""
    quoted = ", ".join(f"'{name}'" for name in names)
    return ErrorCode.INVALID_TARGET_COLUMN.error(
        f"{where} lacks column {quoted}. A row replaces the old one of its key as a whole; "
        "to write some columns and keep the others, name them: upsert(…, columns=[…]). Named columns that the data "
        "lacks become NULL."
    )


def columns_as_table(columns: Mapping[str, Any], schema: Schema) -> pa.Table:
    """Columns by name as Arrow, in the types of the schema where it has them and the values fit."""
    target = arrow_schema(schema)
    arrays = []
    for name, values in columns.items():
        place = target.get_field_index(name)
        try:
            arrays.append(_array(values, None if place < 0 else target.field(place).type))
        except _MISFITS as wrong:
            wanted = "" if place < 0 else f" is {schema.column(name).type};"
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"Column '{name}'{wanted} the values do not fit: {wrong}"
            ) from wrong
    try:
        return pa.Table.from_arrays(arrays, names=[str(name) for name in columns])
    except pa.ArrowInvalid as wrong:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(f"The columns differ in length: {wrong}") from wrong


def _array(values: Any, wanted: pa.DataType | None) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    values = _without_pandas_nulls(values)
    _check_zones(values, wanted)
    if wanted is not None and "map<" in str(wanted):
        _check_pairs(values, wanted)
    try:
        typed = pa.array(values, type=wanted)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(values)  # what Arrow reads by itself, `conform` may still be able to cast
    # Arrow makes 1 of 1.5 and a day of a moment when it is told the type; `conform` would refuse that.
    return typed if _are_plain(values, wanted) or _says_the_same(typed, values) else pa.array(values)


def _without_pandas_nulls(values: Any) -> Any:
    """With None for pandas' NaT and NA in a list, as in a frame: Arrow makes the first of January of year 1 of NaT."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(values, list):
        return values
    if {type(pandas.NaT), type(pandas.NA)}.isdisjoint(map(type, values)):
        return values
    return [None if value is pandas.NaT or value is pandas.NA else value for value in values]


def _check_pairs(values: Iterable[Any], wanted: pa.DataType) -> None:
    """Refuse None where a map has a key and a value: Arrow would end the process, with a word of its own inside."""
    if pa.types.is_struct(wanted):
        for field in wanted:
            _check_pairs([row.get(field.name) for row in values if isinstance(row, Mapping)], field.type)
    elif pa.types.is_list(wanted):
        _check_pairs(_elements(values), wanted.value_type)
    elif pa.types.is_map(wanted):
        maps, pairs = [value for value in values if isinstance(value, Mapping)], _elements(values)
        if any(pair is None for pair in pairs):
            raise pa.ArrowInvalid("a map is a dict, or a list of pairs; among these pairs is None")
        within = [pair[1] for pair in pairs if isinstance(pair, tuple) and len(pair) == 2]
        _check_pairs([*within, *(value for one in maps for value in one.values())], wanted.item_type)


def _elements(lists: Iterable[Any]) -> list[Any]:
    """What is in those that are a list, of whatever library."""
    plain = [one for one in lists if isinstance(one, Iterable) and not isinstance(one, str | bytes | Mapping)]
    return [element for one in plain for element in one]


def _check_zones(values: Any, wanted: pa.DataType | None) -> None:
    """Refuse moments of another zone than UTC for a TIMESTAMP: Arrow would quietly put UTC's wall clock there."""
    if wanted is None or not pa.types.is_timestamp(wanted) or wanted.tz is not None:
        return
    for value in values:
        if getattr(value, "tzinfo", None) is not None and value.utcoffset():
            raise pa.ArrowInvalid(
                f"{value} has a time zone; declare the column TIMESTAMP_LTZ, or drop the zone from the data"
            )


def _are_plain(values: Any, wanted: pa.DataType | None) -> bool:
    """Whether a list holds nothing but values of the one Python type that Arrow cannot take wrongly."""
    return isinstance(values, list) and set(map(type, values)) <= {_PLAIN.get(wanted), type(None)}


def _says_the_same(typed: Any, values: Any) -> bool:
    try:
        found = pa.array(values)
        if pa.types.is_temporal(typed.type) and pa.types.is_integer(found.type):
            return False  # of days, or milliseconds, or was it 20260101: a column of numbers is not taken either
        return bool(found.type == typed.type or typed.cast(found.type).equals(found))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return True  # Arrow has no type of its own for them, or no way back: nothing to compare with


def _is_pandas(data: Any) -> bool:
    # Without importing pandas: who passes a DataFrame has loaded it already.
    return type(data).__module__.split(".", 1)[0] == "pandas" and type(data).__name__ == "DataFrame"


def names_in(data: Any) -> list[str]:
    """The columns of rows, as far as a look at them tells."""
    if isinstance(data, pa.RecordBatch | pa.Table | pa.RecordBatchReader):
        return list(data.schema.names)
    if isinstance(data, Mapping):
        return [str(name) for name in data]
    if isinstance(data, list) and all(isinstance(row, Mapping) for row in data):
        return list(dict.fromkeys(str(name) for row in data for name in row))
    return [str(name) for name in data.columns] if _is_pandas(data) or hasattr(data, "__arrow_c_stream__") else []


def _with_index(frame: Any) -> Any:
    """An index that has a name is a column like any other; one without is a numbering of rows."""
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return frame.reset_index(level=named) if named else frame


def _not_rows(data: Any) -> Exception:
    return ErrorCode.INVALID_TARGET_COLUMN.error(
        f"{type(data).__name__} is not rows; give a pyarrow Table or RecordBatch, a pandas or polars DataFrame, "
        "a list of dicts, a dict of lists, or an iterable of these."
    )
