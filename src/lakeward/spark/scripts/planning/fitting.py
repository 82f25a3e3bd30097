"""Which types go into a column without being asked: what would lose something is to be said with CAST."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_WHOLE = frozenset({"byte", "short", "integer", "long"})
_TEXTS = frozenset({"string", "varchar", "char"})
#: By the type of a value: the types of columns that take it. A whole number that is too large fails when it comes.
_TAKEN_BY: dict[str, frozenset[str]] = {
    **dict.fromkeys(_WHOLE, _WHOLE | {"decimal", "float", "double"}),
    "decimal": frozenset({"decimal", "float", "double"}),
    "float": frozenset({"float", "double", "decimal"}),
    "double": frozenset({"double", "decimal"}),
    **dict.fromkeys(_TEXTS, _TEXTS),
    "date": frozenset({"date", "timestamp", "timestamp_ntz"}),
    "timestamp_ntz": frozenset({"date", "timestamp", "timestamp_ntz"}),
    "timestamp": frozenset({"timestamp", "timestamp_ntz"}),
}


def fits(found: DataType, wanted: DataType) -> bool:
    """Whether values of a type go into a column of another: as in Flink, and whole numbers into smaller ones, too."""
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StructType

    given, kind = found.typeName(), wanted.typeName()
    if isinstance(found, ArrayType) and isinstance(wanted, ArrayType):
        return fits(found.elementType, wanted.elementType)
    if isinstance(found, MapType) and isinstance(wanted, MapType):
        return fits(found.keyType, wanted.keyType) and fits(found.valueType, wanted.valueType)
    if isinstance(found, StructType) and isinstance(wanted, StructType):
        pairs = zip(found.fields, wanted.fields, strict=False)
        return len(found) == len(wanted) and all(fits(own.dataType, other.dataType) for own, other in pairs)
    if isinstance(found, DecimalType) and not found.scale and kind in _WHOLE:
        return True
    return given == "void" or kind == given or kind in _TAKEN_BY.get(given, ())


def keeps_apart(found: DataType, wanted: DataType) -> bool:
    """Whether different values stay different in another type; what does not fit there fails."""
    from pyspark.sql.types import DecimalType

    given, kind = found.typeName(), wanted.typeName()
    if isinstance(found, DecimalType):
        return isinstance(wanted, DecimalType) and wanted.scale >= found.scale
    if given in _WHOLE:
        return kind in _WHOLE or isinstance(wanted, DecimalType)
    return given == kind or (given, kind) == ("float", "double") or {given, kind} <= _TEXTS or given in {"void", "date"}
