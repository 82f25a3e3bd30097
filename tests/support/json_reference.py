"""JSON read a message at a time, by Python's own parser: what the fast decoder is held against."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema

_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INTEGER: 32, TypeRoot.BIGINT: 64}
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?", re.ASCII)
_SPECIAL = {"nan": float("nan"), "infinity": float("inf"), "-infinity": float("-inf")}
_BLANKS = "".join(map(chr, range(33)))


class BadMessageError(Exception):
    """The message is bad."""


class Number(str):
    """A number as it was written."""

    __slots__ = ()


def rows_of(message: bytes, schema: Schema) -> list[list[Any]]:
    """The rows of a message, or BadMessageError."""
    try:
        root = json.loads(message.decode(), parse_int=Number, parse_float=Number, parse_constant=_refuse, strict=False)
        json.dumps(root, ensure_ascii=False).encode()  # a lone surrogate is none of UTF-8
    except (ValueError, RecursionError):
        raise BadMessageError from None
    rows = root if isinstance(root, list) else [root]
    if not all(isinstance(row, dict) for row in rows):
        raise BadMessageError
    return [[value_of(row.get(column.name), column.type) for column in schema.columns] for row in rows]


def value_of(value: Any, type_: DataType) -> Any:
    """One value of a column."""
    if value is None:
        if not type_.nullable:
            raise BadMessageError
        return None
    match type_.root:
        case TypeRoot.STRING:
            return _text(value)
        case TypeRoot.BOOLEAN:
            return _boolean(value)
        case TypeRoot.ARRAY:
            return [value_of(item, type_.element) for item in _of(value, list)]
        case TypeRoot.MAP:
            return [(value_of(k, type_.key), value_of(v, type_.value)) for k, v in _of(value, dict).items()]
        case TypeRoot.ROW:
            return {f.name: value_of(_of(value, dict).get(f.name), f.type) for f in type_.fields}
        case _:
            return _leaf(_of(value, str), type_)


def _leaf(text: str, type_: DataType) -> Any:
    is_number, bare = isinstance(text, Number), text.strip(_BLANKS)
    if type_.root in _BITS:
        return _whole(bare, is_number, _BITS[type_.root])
    if type_.root is TypeRoot.DOUBLE:
        return _real(bare)
    if type_.root is TypeRoot.DECIMAL:
        return _decimal(bare, type_)
    if is_number:
        raise BadMessageError
    return _base64(text) if type_.root is TypeRoot.BYTES else _moment(bare)


def _whole(text: str, is_number: bool, bits: int) -> int:
    if not _WHOLE.fullmatch(text) and not is_number:
        raise BadMessageError
    number = Decimal(text)
    if (
        number.adjusted() > 400
        or number != number.to_integral_value()
        or not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)
    ):
        raise BadMessageError
    return int(number)


def _real(text: str) -> float:
    special = _SPECIAL.get(text.lower().removeprefix("+"))
    if special is not None:
        return special
    if not _REAL.fullmatch(text) or float(text) in {float("inf"), float("-inf")}:
        raise BadMessageError
    return float(text)


def _decimal(text: str, type_: DataType) -> Decimal:
    if not _REAL.fullmatch(text):
        raise BadMessageError
    number, scale = Decimal(text), type_.scale or 0
    if number and number.adjusted() > 60:
        raise BadMessageError
    rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, Context(prec=200)) if number else Decimal(0)
    if abs(rounded.scaleb(scale, Context(prec=200))) >= 10**type_.precision:
        raise BadMessageError
    return rounded


def _moment(text: str) -> dt.datetime:
    found = _MOMENT.fullmatch(text)
    if not found:
        raise BadMessageError
    parts = [int(found[i] or 0) for i in range(1, 7)]
    millis = int((found[7] or "").ljust(3, "0")[:3])
    try:
        return dt.datetime(*parts, millis * 1000)
    except ValueError:
        raise BadMessageError from None


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadMessageError from None


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"0": False, "1": True} if isinstance(value, Number) else {"true": True, "false": False}
    text = value.strip().lower() if isinstance(value, str) else ""
    if text not in words:
        raise BadMessageError
    return words[text]


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _of(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadMessageError
    return value


def _refuse(word: str) -> None:
    raise ValueError(word)
