"""Where the files of a place lie: dt=2026-11-01/bucket-0. And the other way: the place of a partition in a manifest."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

from lakeward.lake.files.s3_path import LakePath
from lakeward.lake.paimon.schema.binary_row import of_binary
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.port import LakePlace
from lakeward.model import java_text
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.partition import value_text
from lakeward.model.values import Timestamp

#: Characters that Paimon writes as %XX in names of directories, beside the control characters.
_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^")
_FIRST_PRINTABLE = 0x20


def file_bucket(shape: TableShape, place: LakePlace) -> int:
    """The bucket in the lake: ours, or 0 where the lake's table is not bucketed."""
    return place.bucket if shape.total_buckets > 0 else 0


def place_directory(shape: TableShape, partition: Sequence[Any], bucket: int) -> LakePath:
    """The directory of a bucket of the partition with these values."""
    types = shape.types_of(shape.partition_keys)
    parts = [
        f"{_escape(key)}={_escape(_text(type_, value))}"
        for key, type_, value in zip(shape.partition_keys, types, partition, strict=True)
    ]
    return reduce(operator.truediv, [*parts, f"bucket-{bucket}"], shape.path)


def place_of(shape: TableShape, partition: bytes, bucket: int) -> LakePlace:
    """The place of a partition, as a manifest holds it."""
    types = shape.types_of(shape.partition_keys)
    values = of_binary(types, partition)
    return LakePlace(bucket, tuple(value_text(t, v) for t, v in zip(types, values, strict=True)))


def _text(type_: DataType, value: Any) -> str:
    match type_.root:
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return _timestamp_text(value, type_.precision or 0)
        case TypeRoot.FLOAT:
            return java_text.float_text(value)
        case TypeRoot.DOUBLE:
            return java_text.double_text(value)
        case TypeRoot.TIME:
            seconds, ms = divmod(value, 1000)
            end = f".{ms:03}".rstrip("0") if ms else ""
            return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{end}"
        case _:
            return value_text(type_, value)


def _timestamp_text(value: Timestamp, digits: int) -> str:
    day, hour, minute, second, nanos = java_text.split(value)
    fraction = f"{nanos:09}"
    fraction = fraction[:digits] + fraction[digits:].rstrip("0")
    return f"{java_text.date_text(day)} {hour:02}:{minute:02}:{second:02}" + (f".{fraction}" if fraction else "")


def _escape(text: str) -> str:
    return "".join(f"%{ord(c):02X}" if c in _ESCAPED or ord(c) < _FIRST_PRINTABLE else c for c in text)
