"""Logical column types. A type is a value: compare it, hash it, print it.

One class for all types keeps dispatch a lookup by `root`; the factories below are how types are written.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, replace


class TypeRoot(enum.StrEnum):
    """The kind of a type; the text is its name in JSON."""

    BOOLEAN = "BOOLEAN"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    CHAR = "CHAR"
    STRING = "STRING"
    BINARY = "BINARY"
    BYTES = "BYTES"
    DECIMAL = "DECIMAL"
    DATE = "DATE"
    TIME = "TIME_WITHOUT_TIME_ZONE"
    TIMESTAMP = "TIMESTAMP_WITHOUT_TIME_ZONE"
    TIMESTAMP_LTZ = "TIMESTAMP_WITH_LOCAL_TIME_ZONE"
    ARRAY = "ARRAY"
    MAP = "MAP"
    ROW = "ROW"


NESTED = frozenset({TypeRoot.ARRAY, TypeRoot.MAP, TypeRoot.ROW})

_SQL_NAMES = {
    TypeRoot.INTEGER: "INT",
    TypeRoot.TIME: "TIME",
    TypeRoot.TIMESTAMP: "TIMESTAMP",
    TypeRoot.TIMESTAMP_LTZ: "TIMESTAMP_LTZ",
}


@dataclass(frozen=True, slots=True)
class RowField:
    """A named field of a ROW type. `id` is -1 until the schema assigns one."""

    name: str
    type: DataType
    description: str | None = None
    id: int = -1


@dataclass(frozen=True, slots=True)
class DataType:
    """A column type; only the attributes that its root needs are set."""

    root: TypeRoot
    nullable: bool = True
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    element: DataType | None = None
    key: DataType | None = None
    value: DataType | None = None
    fields: tuple[RowField, ...] = ()

    def not_null(self) -> DataType:
        """The same type, refusing NULL."""
        return self if not self.nullable else replace(self, nullable=False)

    def as_nullable(self) -> DataType:
        """The same type, allowing NULL."""
        return self if self.nullable else replace(self, nullable=True)

    def __str__(self) -> str:
        name = _SQL_NAMES.get(self.root, self.root.value)
        match self.root:
            case TypeRoot.CHAR | TypeRoot.BINARY:
                name += f"({self.length})"
            case TypeRoot.DECIMAL:
                name += f"({self.precision}, {self.scale})"
            case TypeRoot.TIME | TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
                name += f"({self.precision})"
            case TypeRoot.ARRAY:
                name += f"<{self.element}>"
            case TypeRoot.MAP:
                name += f"<{self.key}, {self.value}>"
            case TypeRoot.ROW:
                name += f"<{', '.join(f'{f.name} {f.type}' for f in self.fields)}>"
            case _:
                pass
        return name if self.nullable else f"{name} NOT NULL"


def is_hollow(type_: DataType) -> bool:
    """Whether there is a ROW without fields in it, which no Parquet file can hold."""
    inner = (type_.element, type_.key, type_.value, *(f.type for f in type_.fields))
    return (type_.root is TypeRoot.ROW and not type_.fields) or any(is_hollow(t) for t in inner if t is not None)


def BOOLEAN() -> DataType:  # noqa: N802 - types are written as in SQL
    """True or false."""
    return DataType(TypeRoot.BOOLEAN)


def TINYINT() -> DataType:  # noqa: N802
    """8-bit integer."""
    return DataType(TypeRoot.TINYINT)


def SMALLINT() -> DataType:  # noqa: N802
    """16-bit integer."""
    return DataType(TypeRoot.SMALLINT)


def INT() -> DataType:  # noqa: N802
    """32-bit integer."""
    return DataType(TypeRoot.INTEGER)


def BIGINT() -> DataType:  # noqa: N802
    """64-bit integer."""
    return DataType(TypeRoot.BIGINT)


def FLOAT() -> DataType:  # noqa: N802
    """32-bit floating point number."""
    return DataType(TypeRoot.FLOAT)


def DOUBLE() -> DataType:  # noqa: N802
    """64-bit floating point number."""
    return DataType(TypeRoot.DOUBLE)


def CHAR(length: int) -> DataType:  # noqa: N802
    """Text of a declared length."""
    return DataType(TypeRoot.CHAR, length=length)


def STRING() -> DataType:  # noqa: N802
    """Text of any length."""
    return DataType(TypeRoot.STRING)


def BINARY(length: int) -> DataType:  # noqa: N802
    """Bytes of a declared length."""
    return DataType(TypeRoot.BINARY, length=length)


def BYTES() -> DataType:  # noqa: N802
    """Bytes of any length."""
    return DataType(TypeRoot.BYTES)


def DECIMAL(precision: int, scale: int = 0) -> DataType:  # noqa: N802
    """Exact number with `precision` digits, `scale` of them after the point."""
    return DataType(TypeRoot.DECIMAL, precision=precision, scale=scale)


def DATE() -> DataType:  # noqa: N802
    """Day of the calendar."""
    return DataType(TypeRoot.DATE)


def TIME(precision: int = 0) -> DataType:  # noqa: N802
    """Time of day, stored in milliseconds whatever the precision."""
    return DataType(TypeRoot.TIME, precision=precision)


def TIMESTAMP(precision: int = 6) -> DataType:  # noqa: N802
    """Date and time without a zone."""
    return DataType(TypeRoot.TIMESTAMP, precision=precision)


def TIMESTAMP_LTZ(precision: int = 6) -> DataType:  # noqa: N802
    """Point in time."""
    return DataType(TypeRoot.TIMESTAMP_LTZ, precision=precision)


def ARRAY(element: DataType) -> DataType:  # noqa: N802
    """Ordered values of one type."""
    return DataType(TypeRoot.ARRAY, element=element)


def MAP(key: DataType, value: DataType) -> DataType:  # noqa: N802
    """Values by key; keys are never NULL."""
    return DataType(TypeRoot.MAP, key=key.not_null(), value=value)


def ROW(fields: Iterable[tuple[str, DataType]]) -> DataType:  # noqa: N802
    """Named fields in one value."""
    return DataType(TypeRoot.ROW, fields=tuple(RowField(name, type_) for name, type_ in fields))
