"""The partitions of one table: listed, created, dropped, and made to exist before a write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakeward.client.cluster.cluster import Cluster, pb_path
from lakeward.client.cluster.patience import patiently
from lakeward.client.forms.results import PartitionInfo
from lakeward.errors import ErrorCode, InvalidError, NotFoundError
from lakeward.model.partition import name_of_spec, spec_of_name
from lakeward.model.partition_text import value_of_text
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.partition import (
    CreatePartitionRequest,
    DropPartitionRequest,
    ListPartitionInfosRequest,
    ListPartitionInfosResponse,
    PbPartitionSpec,
)
from lakeward.protocol.messages.shared import PbKeyValue


class Partitions:
    """What one table's partitions are called and which ids they have."""

    def __init__(self, cluster: Cluster, info: TableInfo) -> None:
        self._cluster = cluster
        self._info = info
        self._ensured: set[str] = set()

    async def all(self) -> list[PartitionInfo]:
        """Every partition, by name."""
        self._must_be_partitioned()
        ask = ListPartitionInfosRequest(table_path=pb_path(self._info.path))
        answer: ListPartitionInfosResponse = await self._cluster.ask(Api.LIST_PARTITION_INFOS, ask)
        found = []
        for partition in answer.partitions_info:
            spec = {pair.key: pair.value for pair in partition.partition_spec.partition_key_values}
            found.append(PartitionInfo(partition.partition_id, self.name_of(spec), spec))
        return sorted(found, key=lambda p: p.name)

    async def create(self, spec: Mapping[str, Any], *, exist_ok: bool) -> None:
        """Create a partition."""
        self._must_be_partitioned()
        self.name_of(spec)
        self._check_writable(spec)
        ask = CreatePartitionRequest(
            table_path=pb_path(self._info.path), partition_spec=_pb_spec(spec), ignore_if_not_exists=exist_ok
        )
        await self._cluster.ask(Api.CREATE_PARTITION, ask)

    async def drop(self, spec: Mapping[str, Any], *, missing_ok: bool) -> None:
        """Drop a partition and its data."""
        self._must_be_partitioned()
        name = self.name_of(spec)
        self._ensured.discard(name)
        await self.find(name)  # its id, so that rows written from now on cannot go to it
        ask = DropPartitionRequest(
            table_path=pb_path(self._info.path), partition_spec=_pb_spec(spec), ignore_if_not_exists=missing_ok
        )
        await self._cluster.ask(Api.DROP_PARTITION, ask)
        self._cluster.metadata.forget_partition(self._info.table_id, name)

    def _check_writable(self, spec: Mapping[str, Any]) -> None:
        """Refuse a name that no row of the table has: nobody could ever write to such a partition."""
        schema, path = self._info.schema, self._info.path
        for key, value in spec.items():
            type_ = schema.column(key).type
            try:
                value_of_text(type_, _text(value))
            except InvalidError as wrong:
                raise ErrorCode.PARTITION_SPEC_INVALID.error(
                    f"{path} can have no partition {key}={_text(value)}: {wrong.message} No row would ever be in it."
                ) from wrong

    def name_of(self, spec: Mapping[str, Any]) -> str:
        """The name of a partition: its values in the order of the partition columns."""
        texts = {key: _text(value) for key, value in spec.items()}
        return name_of_spec(self._info.descriptor.partition_keys, texts, self._info.path, creating=False)

    def id_of(self, name: str) -> int:
        """The id of a partition that `ensure` has seen; somebody may have dropped it since."""
        found = self._cluster.metadata.partition_id(self._info.table_id, name)
        if found is None:
            raise ErrorCode.PARTITION_NOT_EXISTS.error(f"{self._info.path} has no partition {name} any more.")
        return found

    async def find(self, name: str) -> int | None:
        """The id of a partition, asked for if it is not known; None when there is none of that name."""
        metadata, table_id = self._cluster.metadata, self._info.table_id
        known = metadata.partition_id(table_id, name)
        if known is None:
            try:
                await self._learn([name])
            except NotFoundError as wrong:
                if wrong.code is not ErrorCode.PARTITION_NOT_EXISTS:
                    raise
            known = metadata.partition_id(table_id, name)
        return known

    async def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids that these partitions have now; none if the servers do not know one of them (yet)."""
        metadata, table_id = self._cluster.metadata, self._info.table_id
        try:
            await self._learn(names)
        except NotFoundError as wrong:
            if wrong.code is not ErrorCode.PARTITION_NOT_EXISTS:
                raise
            return {}
        found = {name: metadata.partition_id(table_id, name) for name in names}
        return {name: id_ for name, id_ in found.items() if id_ is not None}

    async def ensure(self, name: str | None) -> None:
        """Make sure that a partition exists and its id is known; a missing one is created unless that is off."""
        metadata, path, table_id = self._cluster.metadata, self._info.path, self._info.table_id
        if name is None or (name in self._ensured and metadata.partition_id(table_id, name) is not None):
            return
        try:
            await self._learn([name])
            if metadata.partition_id(table_id, name) is None:
                raise ErrorCode.PARTITION_NOT_EXISTS.error(f"{path} has no partition {name} any more.")
        except NotFoundError:
            if not self._cluster.settings.create_partitions:
                raise
            spec = spec_of_name(self._info.descriptor.partition_keys, name)
            await patiently(self._cluster, lambda: self.create(spec, exist_ok=True))
            await patiently(self._cluster, lambda: metadata.wait_for_partition(path, table_id, name))
        self._ensured.add(name)

    async def _learn(self, names: Sequence[str]) -> None:
        """Rows wait for this, so servers that are away are waited for."""
        await patiently(self._cluster, lambda: self._cluster.metadata.refresh(self._info.path, names))

    def _must_be_partitioned(self) -> None:
        if not self._info.descriptor.is_partitioned:
            raise ErrorCode.TABLE_NOT_PARTITIONED.error(f"{self._info.path} is not partitioned.")


def _pb_spec(spec: Mapping[str, Any]) -> PbPartitionSpec:
    return PbPartitionSpec(partition_key_values=tuple(PbKeyValue(key=k, value=_text(v)) for k, v in spec.items()))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
