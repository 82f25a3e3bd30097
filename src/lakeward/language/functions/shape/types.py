"""Types: TIMESTAMP(3), BYTES, ROW<…> and the rest as Spark writes them."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.form import Number
from lakeward.language.functions.shape.where import place_of
from lakeward.language.place import ScriptError

_T = exp.DataType.Type
_NAMES: Final = {
    _T.BOOLEAN: "BOOLEAN",
    _T.TINYINT: "TINYINT",
    _T.SMALLINT: "SMALLINT",
    _T.INT: "INT",
    _T.BIGINT: "BIGINT",
    _T.FLOAT: "FLOAT",
    _T.DOUBLE: "DOUBLE",
    _T.DATE: "DATE",
    _T.TEXT: "STRING",
    _T.BINARY: "BINARY",
    _T.VARBINARY: "BINARY",
    _T.TIMESTAMP: "TIMESTAMP_NTZ",
    _T.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
    _T.DATETIME: "TIMESTAMP_NTZ",
    _T.TIMESTAMPLTZ: "TIMESTAMP",
    _T.VARIANT: "VARIANT",
    _T.NULL: "VOID",
}
#: CHAR(n) and VARCHAR(n) are types of columns in Spark; elsewhere they are strings.
_STRINGS: Final = {_T.CHAR, _T.NCHAR, _T.VARCHAR, _T.NVARCHAR}
_TIMES: Final = {_T.TIMESTAMP, _T.TIMESTAMPNTZ, _T.DATETIME, _T.TIMESTAMPLTZ}
#: Spark's times have microseconds.
_PLACES: Final = 6
_ROWS: Final = {_T.STRUCT, _T.OBJECT, _T.NESTED}


def spark_type(of: exp.DataType) -> str:
    """The type as Spark writes it; CHAR(n) and VARCHAR(n) are STRING."""
    kind = of.this
    if kind in _NAMES:
        return _NAMES[kind]
    if kind in _STRINGS:
        return "STRING"
    if kind == _T.DECIMAL:
        parameters = ", ".join(parameter.name for parameter in of.expressions)
        return f"DECIMAL({parameters})" if parameters else "DECIMAL(10, 0)"
    if kind == _T.TIME:
        return f"TIME({of.expressions[0].name})" if of.expressions else "TIME(0)"
    if kind in {_T.ARRAY, _T.LIST}:
        return f"ARRAY<{_inner(of, 0)}>"
    if kind == _T.MAP:
        return f"MAP<{_inner(of, 0)}, {_inner(of, 1)}>"
    if kind in _ROWS:
        return f"STRUCT<{', '.join(_field(field) for field in of.expressions)}>"
    if kind == _T.INTERVAL or isinstance(kind, exp.Interval):
        return _interval(of)
    written = of.sql()
    if str(of.args.get("kind") or "").upper() == "MULTISET" or written.upper().startswith("MULTISET"):
        raise ScriptError(place_of(of), "MULTISET is no type of Spark: use MAP<…, INT> or ARRAY<…>.")
    if kind in {_T.TIMESTAMPTZ, _T.TIMETZ}:
        raise ScriptError(
            place_of(of), "A zone that is stored with each value is not known to Spark: use TIMESTAMP_LTZ(3)."
        )
    raise ScriptError(place_of(of), f"{written} is no type of this language.")


def length_of(of: exp.DataType) -> int | None:
    """n of CHAR(n), VARCHAR(n); None where the type does not limit."""
    if of.this in _STRINGS and of.expressions:
        return int(of.expressions[0].name)
    return 1 if of.this == _T.CHAR else None


def is_string(of: exp.DataType) -> bool:
    """Whether values of the type are text."""
    return of.this == _T.TEXT or of.this in _STRINGS


def places_cut(of: exp.DataType) -> int | None:
    """How many places of a second a TIMESTAMP(p) keeps, where that is fewer than Spark's own six; else None."""
    if of.this not in _TIMES or not of.expressions:
        return None
    places = int(of.expressions[0].name)
    return places if places < _PLACES else None


def is_padded(of: exp.DataType) -> bool:
    """Whether shorter texts are filled with blanks."""
    return of.this in {_T.CHAR, _T.NCHAR}


def number_in(of: exp.DataType) -> Number | None:
    """What kind of number a value of the type is."""
    if of.this in {_T.TINYINT, _T.SMALLINT, _T.INT, _T.BIGINT}:
        return Number.WHOLE
    return Number.FRACTION if of.this in {_T.DECIMAL, _T.FLOAT, _T.DOUBLE} else None


def _inner(of: exp.DataType, index: int) -> str:
    inner = of.expressions[index]
    return spark_type(inner if isinstance(inner, exp.DataType) else exp.DataType.build(inner))


def _field(of: exp.Expression) -> str:
    """A field of a row: `name TYPE ['comment']`."""
    if isinstance(of, exp.ColumnDef):
        name, kind = of.name, of.args["kind"]
    else:
        raise ScriptError(place_of(of), "A field of ROW<…> is a name and a type: ROW<name STRING, size INT>.")
    return f"`{name.replace('`', '``')}`: {spark_type(kind)}"


def _interval(of: exp.DataType) -> str:
    unit = of.args.get("unit") or (of.this.args.get("unit") if isinstance(of.this, exp.Interval) else None)
    return f"INTERVAL {unit.sql()}" if unit is not None else "INTERVAL DAY TO SECOND"
