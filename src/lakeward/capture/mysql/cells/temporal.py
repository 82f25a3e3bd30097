"""Microseconds → Arrow, and what becomes of values that our types do not have: zero dates, times of no day."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakeward.capture.mysql.cells.cells import I64, Cells
from lakeward.capture.mysql.cells.native_type import NativeType
from lakeward.errors import ErrorCode, LakewardError

_DAY_US = 86_400_000_000
_US_PER_UNIT = {"s": 1_000_000, "ms": 1000, "us": 1}


class ZeroDates(enum.StrEnum):
    """What 0000-00-00 becomes."""

    NULL = "null"
    EPOCH = "epoch"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ValueRules:
    """What the settings say of odd values."""

    zero_dates: ZeroDates = ZeroDates.NULL
    time_as_text: bool = False


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """A column as it is to be read: what it is there, what it is here, and what it is called in messages."""

    name: str
    native: NativeType
    type: pa.DataType
    nullable: bool
    rules: ValueRules


def moments(form: ColumnForm, cells: Cells, values: I64, absent: npt.NDArray[np.bool_]) -> pa.Array:
    """Dates and timestamps of microseconds since 1970."""
    zero = absent.any()
    if zero and form.rules.zero_dates is ZeroDates.ERROR:
        raise _odd(form, "a date that is none, such as 0000-00-00", "'zero-dates' = 'null' or 'epoch'")
    if zero and form.rules.zero_dates is ZeroDates.NULL and not form.nullable:
        raise _odd(form, "a date that is none, such as 0000-00-00, in its primary key", "'zero-dates' = 'epoch'")
    if form.rules.zero_dates is ZeroDates.EPOCH:
        values[absent] = 0
        absent = np.zeros_like(absent)
    if pa.types.is_date32(form.type):
        return cells.numbers((values // _DAY_US).astype(np.int32), form.type, absent)
    return cells.numbers(values // _US_PER_UNIT[form.type.unit], form.type, absent)


def times(form: ColumnForm, cells: Cells, values: I64) -> pa.Array:
    """Times of microseconds since midnight."""
    if form.rules.time_as_text:
        digits = form.native.precision
        written = [_time_text(value, digits) for value in values.tolist()]
        return pa.array(written, pa.string(), mask=cells.lengths < 0)
    if ((values < 0) | (values >= _DAY_US)).any():
        raise _odd(form, "a time below zero or of 24 hours and more", "'time-as-text' = 'true'")
    scaled: Any = values // _US_PER_UNIT[form.type.unit]
    return cells.numbers(scaled.astype(np.int32) if pa.types.is_time32(form.type) else scaled, form.type)


def _time_text(value: int, digits: int) -> str:
    """A time as the server writes it."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    seconds, fraction = divmod(value, 1_000_000)
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}"[: len(text) + 1 + digits] if digits else text


def _odd(form: ColumnForm, what: str, option: str) -> LakewardError:
    return ErrorCode.INVALID_TABLE.error(
        f"The column {form.name} holds {what}, which has no place in {form.type}. Set {option} to capture it anyway."
    )
