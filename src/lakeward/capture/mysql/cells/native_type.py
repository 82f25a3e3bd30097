"""NativeType: a column's type as MySQL and MariaDB write it, and the type of ours that holds its values.

| native                       | ours                                                                                 |
|------------------------------|--------------------------------------------------------------------------------------|
| tinyint … bigint             | the same width; unsigned the next wider one, bigint unsigned DECIMAL(20, 0)          |
| decimal(p, s)                | DECIMAL(p, s) up to 38 digits, STRING above                                          |
| float, double                | FLOAT, DOUBLE                                                                        |
| bit(1), bit(n)               | BOOLEAN, BINARY of as many bytes as it takes                                         |
| year                         | INT                                                                                  |
| date, datetime(n)            | DATE, TIMESTAMP(n)                                                                   |
| timestamp(n)                 | TIMESTAMP_LTZ(n): a point in time, whatever zone the server or a session is in       |
| time(n)                      | TIME(n), or STRING if the settings say so: MySQL's times go from -838 to 838 hours   |
| char, varchar, text, enum, set, json, uuid, inet4, inet6 | STRING, as the server writes it                          |
| binary(n)                    | BINARY(n)                                                                            |
| varbinary, blob, geometry    | BYTES; a geometry is the server's own form: the SRID, then well-known binary         |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lakeward.errors import ErrorCode
from lakeward.model import data_types as types
from lakeward.model.data_types import DataType

_DECIMAL_DIGITS_MAX = 38
_TYPE = re.compile(
    r"\s*([a-z][a-z0-9_ ]*?)\s*(?:\(([^)'\"]*(?:'(?:[^']|'')*'[^)'\"]*)*)\))?((?:\s+|/).*)?$", re.DOTALL | re.IGNORECASE
)
_WORD_IN_QUOTES = re.compile(r"'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
_SYNONYMS = {
    "integer": "int",
    "int1": "tinyint",
    "int2": "smallint",
    "int3": "mediumint",
    "int4": "int",
    "int8": "bigint",
    "middleint": "mediumint",
    "bool": "tinyint",
    "boolean": "tinyint",
    "dec": "decimal",
    "numeric": "decimal",
    "fixed": "decimal",
    "number": "decimal",
    "real": "double",
    "double precision": "double",
    "float4": "float",
    "float8": "double",
    "character": "char",
    "nchar": "char",
    "national char": "char",
    "national varchar": "varchar",
    "character varying": "varchar",
    "char varying": "varchar",
    "varchar2": "varchar",
    "nvarchar": "varchar",
    "long": "mediumtext",
    "long varchar": "mediumtext",
    "long varbinary": "mediumblob",
    "char byte": "binary",
    "clob": "longtext",
    "raw": "varbinary",
    "geomcollection": "geometrycollection",
}
_INTEGERS = {
    "tinyint": (types.TINYINT, types.SMALLINT, 1),
    "smallint": (types.SMALLINT, types.INT, 2),
    "mediumint": (types.INT, types.INT, 3),
    "int": (types.INT, types.BIGINT, 4),
    "bigint": (types.BIGINT, lambda: types.DECIMAL(20, 0), 8),
}
TEXTS = {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "json", "enum", "set"}
BLOBS = {"tinyblob", "blob", "mediumblob", "longblob"}
GEOMETRIES = {
    *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"),
    "geometrycollection",
}
ADDRESSES = {"uuid": 16, "inet6": 16, "inet4": 4}
#: Types whose values the server orders as it orders literals of them: keys of these can be cut into ranges.
ORDERED = {*_INTEGERS, "decimal", "char", "varchar", "binary", "varbinary", "date", "datetime", "timestamp", "year"}


@dataclass(frozen=True, slots=True)
class NativeType:
    """A type such as varchar(20) collate latin1_swedish_ci in parts; `values` are the words of an enum or a set."""

    name: str
    arguments: tuple[int, ...] = ()
    values: tuple[str, ...] = ()
    is_unsigned: bool = False
    is_compressed: bool = False
    collation: str | None = None

    @property
    def charset(self) -> str | None:
        """The character set of its texts."""
        return None if self.collation is None else self.collation.split("_")[0]

    @property
    def integer_bytes(self) -> int:
        """How wide an integer is; 0 for other types."""
        return _INTEGERS[self.name][2] if self.name in _INTEGERS else 0

    @property
    def precision(self) -> int:
        """Digits of a decimal, or of the fraction of a second."""
        return self.arguments[0] if self.arguments else 10 if self.name == "decimal" else 0

    @property
    def scale(self) -> int:
        """Digits of a decimal after the point."""
        return self.arguments[1] if len(self.arguments) > 1 else 0

    @property
    def length(self) -> int:
        """What stands in brackets; 1 when nothing does."""
        return self.arguments[0] if self.arguments else 1

    @property
    def is_temporal(self) -> bool:
        """Whether it may hold a zero date."""
        return self.name in {"date", "datetime", "timestamp"}

    def data_type(self, *, time_as_text: bool = False) -> DataType:
        """The type of ours."""
        match self.name:
            case name if name in _INTEGERS:
                signed, unsigned, _ = _INTEGERS[name]
                return unsigned() if self.is_unsigned else signed()
            case "decimal":
                fits = self.precision <= _DECIMAL_DIGITS_MAX
                return types.DECIMAL(self.precision, self.scale) if fits else types.STRING()
            case "float":
                return types.FLOAT()
            case "double":
                return types.DOUBLE()
            case "bit":
                return types.BOOLEAN() if self.length == 1 else types.BINARY((self.length + 7) // 8)
            case "year":
                return types.INT()
            case "date":
                return types.DATE()
            case "datetime":
                return types.TIMESTAMP(self.precision)
            case "timestamp":
                return types.TIMESTAMP_LTZ(self.precision)
            case "time":
                return types.STRING() if time_as_text else types.TIME(self.precision)
            case "binary":
                return types.BINARY(self.length) if self.length else types.BYTES()
            case name if name in BLOBS or name in GEOMETRIES or name == "varbinary":
                return types.BYTES()
            case name if name in TEXTS or name in ADDRESSES:
                return types.STRING()
            case name:
                raise ErrorCode.INVALID_TABLE.error(f"Columns of type {name} cannot be captured.")


@lru_cache(4096)
def parse_native_type(text: str) -> NativeType:
    """The parts of a type's text; `collate …` at its end is ours."""
    found = _TYPE.match(text.strip())
    if found is None:
        raise ErrorCode.INVALID_TABLE.error(f"The type '{text[:80]}' cannot be read.")
    name = " ".join(found[1].lower().split())
    rest = (found[3] or "").lower()
    for word in (" unsigned", " signed", " zerofill"):
        if name.endswith(word):
            name, rest = name.removesuffix(word), f"{word} {rest}"
    name = _SYNONYMS.get(name, name)
    inside = found[2] or ""
    values = tuple(_unquote(word) for word in _WORD_IN_QUOTES.findall(inside)) if name in {"enum", "set"} else ()
    numbers = () if values else tuple(int(part) for part in inside.split(",") if part.strip())
    collation = re.search(r"\bcollate\s+`?(\w+)", rest)
    if name == "float" and numbers and (numbers[0] > 24 and len(numbers) == 1):
        name = "double"
    return NativeType(
        name,
        numbers if name not in _INTEGERS and name not in {"float", "double", "year"} else (),
        values,
        "unsigned" in rest or "zerofill" in rest,
        "compressed" in rest,
        collation[1] if collation and name in TEXTS else None,
    )


def _unquote(word: str) -> str:
    return re.sub(r"\\(.)|''", lambda found: found[1] or "'", word, flags=re.DOTALL)
