"""An Iceberg partition → the place of our table it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lakeward.lake.port import LakePlace
from lakeward.lake.system_columns import BUCKET
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.partition import value_text
from lakeward.model.table import TableInfo
from lakeward.model.values import Timestamp

_MICROS_PER_MS = 1000


class SpecColumn(NamedTuple):
    """One column of a partition spec."""

    name: str
    is_identity: bool


def place_of(spec: Sequence[SpecColumn], info: TableInfo, values: Sequence[Any]) -> LakePlace:
    """The place of a partition with these values, as a manifest holds them."""
    bucket, texts = 0, {}
    for (name, is_identity), value in zip(spec, values, strict=True):
        if name != BUCKET and is_identity:
            type_ = info.schema.column(name).type
            texts[name] = value_text(type_, _as_ours(type_, value))
        else:
            bucket = value
    return LakePlace(bucket, tuple(texts[name] for name in info.descriptor.partition_keys))


def _as_ours(type_: DataType, value: Any) -> Any:
    """Iceberg counts times in microseconds; we in milliseconds and what is left of them."""
    match type_.root:
        case TypeRoot.TIME:
            return value // _MICROS_PER_MS
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            ms, micros = divmod(value, _MICROS_PER_MS)
            return Timestamp(ms, micros * 1000)
        case _:
            return value
