"""Column types and column lists as people write them in SQL.

    parse_type("DECIMAL(10, 2) NOT NULL")
    parse_columns("id BIGINT, name STRING COMMENT 'as signed', PRIMARY KEY (id) NOT ENFORCED")

`str(type)` is read back by `parse_type`. A refusal shows the text with a mark under the place.
"""

from __future__ import annotations

from dataclasses import replace

from lakeward.model.data_types import (
    ARRAY,
    BIGINT,
    BINARY,
    BOOLEAN,
    BYTES,
    CHAR,
    DATE,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    MAP,
    ROW,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    DataType,
    RowField,
)
from lakeward.model.schema import Column
from lakeward.model.sql_tokens import TokenReader

LENGTH_MAX = 2**31 - 1
NESTING_MAX = 64

_PLAIN = {
    "BOOLEAN": BOOLEAN,
    "BOOL": BOOLEAN,
    "TINYINT": TINYINT,
    "SMALLINT": SMALLINT,
    "INT": INT,
    "INTEGER": INT,
    "BIGINT": BIGINT,
    "LONG": BIGINT,
    "FLOAT": FLOAT,
    "REAL": FLOAT,
    "DOUBLE": DOUBLE,
    "STRING": STRING,
    "TEXT": STRING,
    "BYTES": BYTES,
    "BLOB": BYTES,
    "DATE": DATE,
}
_WITH_PARTS = ("ARRAY", "BINARY", "CHAR", "DECIMAL", "MAP", "ROW", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ")
_NAMES = sorted([*_PLAIN, *_WITH_PARTS])
_SPELLINGS = {*_NAMES, "VARCHAR", "VARBINARY", "DEC", "NUMERIC", "STRUCT"}


def parse_type(text: str) -> DataType:
    """The type a text names."""
    reader = _Reader(text)
    type_ = reader.type()
    reader.end()
    return type_


def parse_columns(text: str) -> tuple[list[Column], tuple[str, ...]]:
    """The columns of a comma-separated list, and the primary key where one is declared."""
    reader = _Reader(text)
    columns: list[Column] = []
    primary_key: tuple[str, ...] = ()
    while True:
        if reader.at_primary_key():
            if primary_key:
                reader.refuse("the primary key is declared already")
            primary_key = reader.primary_key()
        else:
            column, is_key = reader.column()
            columns.append(column)
            if is_key:
                if primary_key:
                    reader.refuse("the primary key is declared already; for several columns write PRIMARY KEY (a, b)")
                primary_key = (column.name,)
        if not reader.take(","):
            break
    reader.end()
    return columns, primary_key


class _Reader(TokenReader):
    """Reads types and columns."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def type(self) -> DataType:
        """A type with its nullability."""
        if self._depth >= NESTING_MAX:
            self.refuse(f"types are nested deeper than {NESTING_MAX}")
        self._depth += 1
        type_ = self._bare_type()
        self._depth -= 1
        if self.take("NOT NULL"):
            return type_.not_null()
        self.take("NULL")
        return type_

    def _bare_type(self) -> DataType:
        token = self.take_kind("word", "a type")
        name = token.text.upper()
        if name not in _SPELLINGS:
            self.refuse(f"there is no type {token.label}; the types are {', '.join(_NAMES)}", token)
        if name in _PLAIN:
            return _PLAIN[name]()
        match name:
            case "CHAR" | "BINARY":
                length = self._arguments(1, LENGTH_MAX) or 1
                return CHAR(length) if name == "CHAR" else BINARY(length)
            case "VARCHAR" | "VARBINARY":
                self._arguments(1, LENGTH_MAX)
                return STRING() if name == "VARCHAR" else BYTES()
            case "DECIMAL" | "DEC" | "NUMERIC":
                return self._decimal()
            case "TIME":
                return TIME(self._precision(0))
            case "TIMESTAMP" | "TIMESTAMP_LTZ":
                return self._timestamp(name)
            case "ARRAY":
                self.expect("<")
                element = self.type()
                self.expect(">")
                return ARRAY(element)
            case "MAP":
                return self._map()
            case _:
                return self._row()

    def _arguments(self, least: int, most: int) -> int | None:
        if not self.take("("):
            return None
        number = self.number(least, most)
        self.expect(")")
        return number

    def _precision(self, default: int) -> int:
        given = self._arguments(0, 9)
        return default if given is None else given

    def _decimal(self) -> DataType:
        if not self.take("("):
            return DECIMAL(10, 0)
        precision = self.number(1, 38)
        scale = self.number(0, precision) if self.take(",") else 0
        self.expect(")")
        return DECIMAL(precision, scale)

    def _timestamp(self, name: str) -> DataType:
        precision = self._precision(6)
        if name == "TIMESTAMP_LTZ" or self.take("WITH LOCAL TIME ZONE"):
            return TIMESTAMP_LTZ(precision)
        self.take("WITHOUT TIME ZONE")
        return TIMESTAMP(precision)

    def _map(self) -> DataType:
        self.expect("<")
        key = self.type()
        self.expect(",")
        value = self.type()
        self.expect(">")
        return MAP(key, value)

    def _row(self) -> DataType:
        close = ">" if self.take("<") else ")"
        if close == ")":
            self.expect("(")
        fields: list[RowField] = []
        while not self.comes(close):
            if fields:
                self.expect(",")
            name = self.name()
            self.take(":")
            if any(f.name == name for f in fields):
                self.refuse(f"the field '{name}' is there already")
            fields.append(RowField(name, self.type(), self._comment()))
        self.expect(close)
        return replace(ROW([]), fields=tuple(fields))

    def _comment(self) -> str | None:
        if self.comes("COMMENT") or self.token.kind == "text":
            self.take("COMMENT")
            return self.take_kind("text", "a text in single quotes").text[1:-1].replace("''", "'")
        return None

    def at_primary_key(self) -> bool:
        """Whether a table's PRIMARY KEY (…) comes next, and not a column."""
        return self.comes("PRIMARY KEY (") or self.comes("CONSTRAINT")

    def primary_key(self) -> tuple[str, ...]:
        """The columns of PRIMARY KEY (…) NOT ENFORCED."""
        if self.take("CONSTRAINT"):
            self.name()
        self.expect("PRIMARY KEY (")
        keys = [self.name()]
        while self.take(","):
            keys.append(self.name())
        self.expect(")")
        self.take("NOT ENFORCED")
        return tuple(keys)

    def column(self) -> tuple[Column, bool]:
        """A column, and whether it is declared the primary key."""
        name = self.name()
        type_ = self.type()
        is_key = self.take("PRIMARY KEY")
        if is_key:
            self.take("NOT ENFORCED")
        if self.take("NOT NULL"):
            type_ = type_.not_null()
        return Column(name, type_, comment=self._comment()), is_key
