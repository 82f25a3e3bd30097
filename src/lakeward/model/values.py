"""What a column holds in memory, type by type.

    BOOLEAN                       bool
    TINYINT … BIGINT              int
    FLOAT, DOUBLE                 float
    CHAR, STRING                  str
    BINARY, BYTES                 bytes
    DECIMAL                       decimal.Decimal, exactly `scale` digits after the point
    DATE                          int, days since 1970-01-01
    TIME                          int, milliseconds since midnight
    TIMESTAMP, TIMESTAMP_LTZ      Timestamp(epoch_ms, nano_of_ms)
    ARRAY                         tuple of values
    MAP                           tuple of (key, value) pairs, order kept
    ROW                           tuple of values in field order
    NULL                          None

Days, milliseconds and `Timestamp` hold everything the formats can store; `datetime` stops at microseconds and at the
year 9999. `of_python` and `to_python` translate where people are.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Mapping
from typing import Any, NamedTuple

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType, TypeRoot

DECIMAL_COMPACT_DIGITS_MAX = 18
"""Decimals of up to this many digits are stored as a 64-bit integer."""

TIMESTAMP_COMPACT_PRECISION_MAX = 3
"""Timestamps of up to this many fractional digits are stored as milliseconds alone."""

NANOS_PER_MILLI = 1_000_000
_DIGITS_MAX = 38
_I64_LIMIT = 1 << 63
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_EXACT = decimal.Context(prec=80, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[decimal.InvalidOperation])


class Timestamp(NamedTuple):
    """A point on the calendar or in time, to the nanosecond. Compares by time."""

    epoch_ms: int
    nano_of_ms: int = 0

    @classmethod
    def of_nanos(cls, epoch_ns: int) -> Timestamp:
        """From nanoseconds since the epoch; times before it are counted downwards in milliseconds."""
        return cls(*divmod(epoch_ns, NANOS_PER_MILLI))

    @property
    def epoch_ns(self) -> int:
        """Nanoseconds since the epoch."""
        return self.epoch_ms * NANOS_PER_MILLI + self.nano_of_ms

    @classmethod
    def of_datetime(cls, moment: dt.datetime) -> Timestamp:
        """From a datetime; one without a zone is taken as UTC."""
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=dt.UTC)
        since = aware - _EPOCH
        micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        return cls.of_nanos(micros * 1000)

    def to_datetime(self) -> dt.datetime:
        """As a datetime in UTC; nanoseconds are cut to microseconds."""
        return _EPOCH + dt.timedelta(microseconds=self.epoch_ns // 1000)


def decimal_of(unscaled: int, precision: int, scale: int) -> decimal.Decimal:
    """The decimal of an unscaled integer; ValueError when it is more than a DECIMAL(precision, scale) can hold.

    A short decimal is stored as 64 bits and may hold all of them: sums go beyond their digits, as at Apache Fluss.
    """
    if not _is_held(unscaled, precision):
        raise ValueError(f"the number has more than {precision} digits")
    return decimal.Decimal(unscaled).scaleb(-scale, _EXACT)


def unscaled_of(value: decimal.Decimal | int, precision: int, scale: int) -> int:
    """The unscaled integer of a decimal; ValueError when DECIMAL(precision, scale) does not hold it exactly."""
    shifted = decimal.Decimal(value).scaleb(scale, _EXACT)
    is_whole = shifted.is_finite() and shifted.adjusted() < _DIGITS_MAX and shifted == int(shifted)
    if is_whole and _is_held(unscaled := int(shifted), precision):
        return unscaled
    raise ValueError(f"{value} is not exact in DECIMAL({precision}, {scale})")


def _is_held(unscaled: int, precision: int) -> bool:
    if precision <= DECIMAL_COMPACT_DIGITS_MAX:
        return -_I64_LIMIT <= unscaled < _I64_LIMIT
    limit: int = 10**precision
    return abs(unscaled) < limit


def checked_nanos(nano_of_ms: int) -> int:
    """The nanoseconds of a millisecond; ValueError when they are more than one."""
    if not 0 <= nano_of_ms < NANOS_PER_MILLI:
        raise ValueError(f"{nano_of_ms} nanoseconds are not within a millisecond")
    return nano_of_ms


def of_python(type_: DataType, value: Any) -> Any:
    """The in-memory value for what people write: dates, times, datetimes, dicts, lists."""
    try:
        return _of_python(type_, value)
    except (TypeError, ValueError, AttributeError, ArithmeticError, KeyError) as wrong:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(f"{value!r} is not a value of type {type_}: {wrong}") from wrong


def _of_python(type_: DataType, value: Any) -> Any:
    if value is None:
        return None
    match type_.root:
        case TypeRoot.DATE:
            return value.toordinal() - _EPOCH_DAY if isinstance(value, dt.date) else int(value)
        case TypeRoot.TIME:
            return _ms_of_day(value) if isinstance(value, dt.time) else int(value)
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return Timestamp.of_datetime(value) if isinstance(value, dt.datetime) else Timestamp(*value)
        case TypeRoot.DECIMAL:
            assert type_.precision is not None
            assert type_.scale is not None
            exact = decimal.Decimal(str(value)) if isinstance(value, float) else decimal.Decimal(value)
            unscaled = unscaled_of(exact, type_.precision, type_.scale)
            if abs(unscaled) >= 10**type_.precision:  # it could be held, but nobody should write it
                raise ValueError(f"it has more than {type_.precision} digits")
            return decimal_of(unscaled, type_.precision, type_.scale)
        case TypeRoot.FLOAT | TypeRoot.DOUBLE:
            return float(value)
        case TypeRoot.BINARY | TypeRoot.BYTES:
            return bytes(memoryview(value))
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return tuple(_of_python(type_.element, v) for v in value)
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            pairs = value.items() if isinstance(value, Mapping) else value
            return tuple((_of_python(type_.key, k), _of_python(type_.value, v)) for k, v in pairs)
        case TypeRoot.ROW:
            parts = [value[f.name] for f in type_.fields] if isinstance(value, Mapping) else value
            return tuple(_of_python(f.type, v) for f, v in zip(type_.fields, parts, strict=True))
        case _:
            return value


def _ms_of_day(time: dt.time) -> int:
    if time.microsecond % 1000:
        raise ValueError("a TIME is stored in milliseconds")
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 1000 + time.microsecond // 1000


def to_python(type_: DataType, value: Any) -> Any:
    """What people read: dates, times, datetimes (aware for TIMESTAMP_LTZ), lists, dicts."""
    if value is None:
        return None
    match type_.root:
        case TypeRoot.DATE:
            return dt.date.fromordinal(value + _EPOCH_DAY)
        case TypeRoot.TIME:
            return (_EPOCH + dt.timedelta(milliseconds=value)).time()
        case TypeRoot.TIMESTAMP:
            return value.to_datetime().replace(tzinfo=None)
        case TypeRoot.TIMESTAMP_LTZ:
            return value.to_datetime()
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return [to_python(type_.element, v) for v in value]
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            return {to_python(type_.key, k): to_python(type_.value, v) for k, v in value}
        case TypeRoot.ROW:
            return {f.name: to_python(f.type, v) for f, v in zip(type_.fields, value, strict=True)}
        case _:
            return value
