"""An Iceberg partition → the place of our table it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lakeward.lake.port import LakePlace
from lakeward.lake.rows.system_columns import BUCKET
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.partition import value_text
from lakeward.model.table import TableInfo
from lakeward.model.values import Timestamp

_MICROS_PER_MS = 1000


class SpecColumn(NamedTuple):
    """One column of a partition spec."""

    name: str
    is_identity: bool


class Places:
    """The places of partitions of one spec; buckets of a partition share its texts."""

    def __init__(self, spec: Sequence[SpecColumn], info: TableInfo) -> None:
        own = [n for n, column in enumerate(spec) if column.name != BUCKET and column.is_identity]
        self._bucket = next((n for n in range(len(spec)) if n not in own), None)
        at = {spec[n].name: n for n in own}
        self._keys = [(at[name], info.schema.column(name).type) for name in info.descriptor.partition_keys]
        self._known: dict[tuple[Any, ...], tuple[str, ...]] = {}

    def of(self, values: Sequence[Any]) -> LakePlace:
        """The place of a partition with these values, as a manifest holds them."""
        keys = tuple([values[n] for n, _ in self._keys])
        texts = self._known.get(keys)
        if texts is None:
            types = [type_ for _, type_ in self._keys]
            texts = tuple(value_text(t, _as_ours(t, value)) for t, value in zip(types, keys, strict=True))
            self._known[keys] = texts
        return LakePlace(0 if self._bucket is None else values[self._bucket], texts)


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
