"""Partitions by name: values in key order, their text, and which text is legal.

spec        {"day": "2024-03-15", "region": "eu"}
name        2024-03-15$eu                       on the wire and on disk
qualified   day=2024-03-15/region=eu            for people
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model import java_text, names
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.values import Timestamp

SEPARATOR = "$"
HISTORICAL = "__historical__"
"""The internal partition that stands for those that have expired."""

PARTITION_KEY_TYPES = frozenset(TypeRoot) - {TypeRoot.DECIMAL, TypeRoot.ARRAY, TypeRoot.MAP, TypeRoot.ROW}
"""Types a partition key column may have."""


def name_of_values(values: Sequence[str]) -> str:
    """The name of the partition with these values."""
    return SEPARATOR.join(values)


def values_of_name(keys: Sequence[str], name: str) -> tuple[str, ...]:
    """The values in a partition's name; refuses a name that has more or fewer than there are keys."""
    values = tuple(name.split(SEPARATOR))
    if len(values) != len(keys):
        raise ErrorCode.PARTITION_SPEC_INVALID.error(
            f"Partition name '{name}' has {len(values)} values, the table has {len(keys)} partition keys {list(keys)}."
        )
    return values


def spec_of_name(keys: Sequence[str], name: str) -> dict[str, str]:
    """The spec of a partition's name."""
    return dict(zip(keys, values_of_name(keys, name), strict=True))


def qualified_name(keys: Sequence[str], values: Sequence[str]) -> str:
    """The partition as people read it."""
    return "/".join(f"{k}={v}" for k, v in zip(keys, values, strict=True))


def values_of_spec(keys: Sequence[str], spec: Mapping[str, str], table: object) -> tuple[str, ...]:
    """The values of a whole spec in key order; `table` is named in refusals."""
    if len(spec) != len(keys):
        raise ErrorCode.PARTITION_SPEC_INVALID.error(
            f"PartitionSpec size is not equal to partition keys size for partitioned table {table}: "
            f"{dict(spec)} was given, the keys are {list(keys)}."
        )
    for key in keys:
        if key not in spec:
            given = ", ".join(f"{name}={value}" for name, value in spec.items())
            raise ErrorCode.PARTITION_SPEC_INVALID.error(
                f"PartitionSpec PartitionSpec{{{{{given}}}}} does not contain partition key '{key}'"
                f" for partitioned table {table}."
            )
    return tuple(spec[k] for k in keys)


def check_values(values: Sequence[str], *, creating: bool) -> None:
    """Refuse values that cannot be part of a name; reserved ones are refused only where a partition is created."""
    for value in values:
        if wrong := names.complaint(value, reserved_prefix_allowed=not creating):
            raise ErrorCode.PARTITION_SPEC_INVALID.error(
                f"The partition value {value[: names.NAME_LENGTH_MAX]} is invalid: {wrong}"
            )


def name_of_spec(keys: Sequence[str], spec: Mapping[str, str], table: object, *, creating: bool) -> str:
    """The checked name of the partition with this spec."""
    values = values_of_spec(keys, spec, table)
    check_values(values, creating=creating)
    return name_of_values(values)


def value_text(type_: DataType, value: Any, *, follow_pyfluss: bool = False) -> str:
    """A partition key's value, one of `model.values`, as text for a name.

    Java and pyfluss name numbers with a fraction and timestamps below the second differently, and neither finds the
    other's partitions; the default is Java's way.
    """
    if value is None:
        raise ErrorCode.PARTITION_SPEC_INVALID.error("The value of a partition key must not be NULL.")
    if type_.root not in PARTITION_KEY_TYPES:
        raise ErrorCode.PARTITION_SPEC_INVALID.error(f"A column of type {type_} cannot be a partition key.")
    if follow_pyfluss and type_.root in _PYFLUSS_TEXTS:
        return _PYFLUSS_TEXTS[type_.root](value)
    return _TEXTS.get(type_.root, str)(value)


def _time_text(ms_of_day: int) -> str:
    seconds, ms = divmod(ms_of_day, 1000)
    return f"{seconds // 3600:02d}-{seconds // 60 % 60:02d}-{seconds % 60:02d}_{ms:03d}"


def _timestamp_text(timestamp: Timestamp) -> str:
    """A whole second ends in an underscore; that is how Apache Fluss names it."""
    return _second_text(timestamp) + f"{java_text.split(timestamp)[-1]:09d}".rstrip("0")


def _pyfluss_timestamp_text(timestamp: Timestamp) -> str:
    """No, three or nine digits of a second."""
    nanos = java_text.split(timestamp)[-1]
    digits = 9 if timestamp.nano_of_ms else 3 if nanos else 0
    return _second_text(timestamp) + f"{nanos:09d}"[:digits]


def _second_text(timestamp: Timestamp) -> str:
    day, hour, minute, second, _ = java_text.split(timestamp)
    return f"{java_text.date_text(day)}-{hour:02d}-{minute:02d}-{second:02d}_"


def _number_text(finite_text: Callable[[float], str]) -> Callable[[float], str]:
    def text(value: float) -> str:
        if math.isfinite(value):
            return finite_text(value).replace(".", "_")
        return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"

    return text


def _positional(number: java_text.Digits) -> str:
    whole, fraction = java_text.positional(number)
    return f"{number.sign}{whole}.{fraction}" if fraction else f"{number.sign}{whole}"


_TEXTS: dict[TypeRoot, Callable[[Any], str]] = {
    TypeRoot.BOOLEAN: lambda v: "true" if v else "false",
    TypeRoot.BINARY: lambda v: v.hex(),
    TypeRoot.BYTES: lambda v: v.hex(),
    TypeRoot.DATE: java_text.date_text,
    TypeRoot.TIME: _time_text,
    TypeRoot.FLOAT: _number_text(java_text.float_text),
    TypeRoot.DOUBLE: _number_text(java_text.double_text),
    TypeRoot.TIMESTAMP: _timestamp_text,
    TypeRoot.TIMESTAMP_LTZ: _timestamp_text,
}

_PYFLUSS_TEXTS: dict[TypeRoot, Callable[[Any], str]] = {
    TypeRoot.FLOAT: _number_text(lambda v: _positional(java_text.float_digits(v, least=1))),
    TypeRoot.DOUBLE: _number_text(lambda v: _positional(java_text.double_digits(v, least=1))),
    TypeRoot.TIMESTAMP: _pyfluss_timestamp_text,
    TypeRoot.TIMESTAMP_LTZ: _pyfluss_timestamp_text,
}
