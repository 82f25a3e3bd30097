"""Values of parameters as literals of SQL: the planner then sees them, and leaves out files by them."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta

from lakeward.sql_server.postgres.codec import pg_types as pg
from lakeward.sql_server.postgres.codec.sql_text import SqlText, literal
from lakeward.sql_server.postgres.codec.values_binary import numeric_of
from lakeward.sql_server.postgres.states import StateError

#: What DuckDB calls types whose literals are written with a type in front.
_CASTS = {
    pg.DATE: "DATE",
    pg.TIMESTAMP: "TIMESTAMP",
    pg.TIMESTAMPTZ: "TIMESTAMPTZ",
    pg.TIME: "TIME",
    pg.INTERVAL: "INTERVAL",
    pg.UUID: "UUID",
    pg.FLOAT4: "FLOAT",
    pg.FLOAT8: "DOUBLE",
    pg.BOOL: "BOOLEAN",
    pg.INT2: "SMALLINT",
    pg.INT4: "INTEGER",
    pg.INT8: "BIGINT",
    pg.JSON: "VARCHAR",
    pg.TEXT: "VARCHAR",
    pg.VARCHAR: "VARCHAR",
    pg.BYTEA: "BLOB",
}
_INTEGERS = {pg.INT2, pg.INT4, pg.INT8, pg.OID}
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,1000}(?:\.[0-9]{0,1000})?")
_EPOCH = datetime(2000, 1, 1)


def literal_of(value: bytes | None, oid: int, form: int) -> str:
    """The literal of a value of a type, in text (0) or binary (1); StateError if it is none."""
    if value is None:
        return f"CAST(NULL AS {_CASTS[oid]})" if oid in _CASTS else "NULL"
    try:
        text = _binary_text(value, oid) if form == 1 else value.decode()
    except (ValueError, struct.error, OverflowError, UnicodeDecodeError):
        raise StateError("22P03", "incorrect binary data format in bind parameter") from None
    if oid in _INTEGERS:
        return _in_brackets(str(_integer(text)))
    if oid == pg.BYTEA:
        raw = value if form == 1 else _bytea(text)
        return f"from_hex('{raw.hex()}')"
    if oid in pg.ARRAYS:
        return array_literal(text, pg.ARRAYS[oid].oid)
    if oid == pg.NUMERIC:
        return _number(text)
    if oid in {pg.DATE, pg.TIMESTAMP, pg.TIMESTAMPTZ, pg.TIME, pg.INTERVAL, pg.UUID, pg.FLOAT4, pg.FLOAT8, pg.BOOL}:
        return f"CAST({literal(text)} AS {_CASTS[oid]})"
    return literal(text)


def duck_type_of(oid: int) -> str | None:
    """What DuckDB calls a type that a client gave; None for one that is to be found out."""
    if oid in pg.ARRAYS:
        inner = duck_type_of(pg.ARRAYS[oid].oid)
        return None if inner is None else f"{inner}[]"
    return {pg.NUMERIC: "DECIMAL(38, 10)", pg.OID: "BIGINT", pg.NAME: "VARCHAR"}.get(oid) or _CASTS.get(oid)


def cast_oids(statement: SqlText, oids: Sequence[int]) -> list[int]:
    """The types of parameters as far as they are cast in the text, `$1::oid[]`; of the others those that are given."""
    found, tokens = list(oids), statement.tokens
    for at, token in enumerate(tokens[:-2]):
        if token.kind == "parameter" and tokens[at + 1].text == "::":
            named = [one for one in pg.TYPES.values() if tokens[at + 2].name in {one.name, one.sql}]
            is_array = [t.text for t in tokens[at + 3 : at + 5]] == ["[", "]"]
            number = int(token.text[1:]) - 1
            if named and 0 <= number < len(found):
                found[number] = found[number] or (named[0].array if is_array else named[0].oid)
    return found


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise StateError("22P02", f'invalid input syntax for type integer: "{text[:40]}"') from None


def _number(text: str) -> str:
    """A number as it is written, which DuckDB takes for a decimal of as many digits."""
    stripped = text.strip()
    if _PLAIN_NUMBER.fullmatch(stripped):
        return _in_brackets(stripped)
    return f"CAST({literal(stripped)} AS DOUBLE)"


def _in_brackets(number: str) -> str:
    """In brackets if it is below zero: behind a minus it would begin a comment."""
    return f"({number})" if number.startswith("-") else number


def _bytea(text: str) -> bytes:
    if not text.startswith("\\x"):
        raise StateError("22P02", "invalid input syntax for type bytea")
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        raise StateError("22P02", "invalid input syntax for type bytea") from None


def array_literal(text: str, oid: int) -> str:
    """A list of one dimension, as Postgres writes it: `{1,2,"a b",NULL}`."""
    inner, found, word, quoted, was_quoted = text.strip()[1:-1], list[str | None](), "", False, False
    if not text.strip().startswith("{"):
        raise StateError("22P02", "malformed array literal")
    letters = iter(inner)
    for letter in letters:
        if letter == "\\":
            word += next(letters, "")
        elif letter == '"':
            quoted, was_quoted = not quoted, True
        elif letter == "," and not quoted:
            found.append(None if word.upper() == "NULL" and not was_quoted else word)
            word, was_quoted = "", False
        else:
            word += letter
    if inner:
        found.append(None if word.upper() == "NULL" and not was_quoted else word)
    return "[" + ", ".join(literal_of(None if v is None else v.encode(), oid, 0) for v in found) + "]"


def _binary_text(value: bytes, oid: int) -> str:
    """The text of a value that was sent in binary."""
    if oid in pg.ARRAYS:
        return _binary_list(value)
    make = _BINARY.get(oid)
    return value.decode() if make is None else make(value)


def _binary_list(value: bytes) -> str:
    dimensions, _, oid = struct.unpack_from("!iiI", value)
    if not dimensions:
        return "{}"
    if dimensions != 1:
        raise StateError("0A000", "Only arrays of one dimension are taken.")
    count, at, parts = struct.unpack_from("!i", value, 12)[0], 20, []
    if not 0 <= count <= len(value):
        raise ValueError
    for _ in range(count):
        size = struct.unpack_from("!i", value, at)[0]
        at += 4
        if size == -1:
            parts.append("NULL")
            continue
        if size < 0 or at + size > len(value):
            raise ValueError
        text = _binary_text(value[at : at + size], oid)
        parts.append('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
        at += size
    return "{" + ",".join(parts) + "}"


def _unpack_one(form: str) -> Callable[[bytes], str]:
    return lambda value: repr(struct.unpack(form, value)[0])


def _moment(value: bytes) -> str:
    return (_EPOCH + timedelta(microseconds=struct.unpack("!q", value)[0])).isoformat(sep=" ")


def _time(value: bytes) -> str:
    return (_EPOCH + timedelta(microseconds=struct.unpack("!q", value)[0])).time().isoformat()


def _interval(value: bytes) -> str:
    micros, days, months = struct.unpack("!qii", value)
    return f"{months} months {days} days {micros} microseconds"


_BINARY: dict[int, Callable[[bytes], str]] = {
    pg.BOOL: lambda value: "true" if value != b"\0" else "false",
    pg.INT2: _unpack_one("!h"),
    pg.INT4: _unpack_one("!i"),
    pg.INT8: _unpack_one("!q"),
    pg.OID: _unpack_one("!I"),
    pg.FLOAT4: _unpack_one("!f"),
    pg.FLOAT8: _unpack_one("!d"),
    pg.DATE: lambda value: (date(2000, 1, 1) + timedelta(days=struct.unpack("!i", value)[0])).isoformat(),
    pg.TIMESTAMP: _moment,
    pg.TIMESTAMPTZ: lambda value: _moment(value) + "+00",
    pg.TIME: _time,
    pg.INTERVAL: _interval,
    pg.NUMERIC: lambda value: f"{numeric_of(value):f}",
    pg.UUID: lambda value: value.hex(),
    pg.BYTEA: lambda value: "\\x" + value.hex(),
}
