"""Handlers for partitions."""

from __future__ import annotations

from lakeward.protocol.api import Api
from lakeward.protocol.messages import partition as messages
from lakeward.protocol.messages.shared import PbKeyValue
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers, path_of


class PartitionHandlers:
    """Create, drop and list partitions."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._partitions = coordinator.partitions

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.CREATE_PARTITION: self.create,
            Api.DROP_PARTITION: self.drop,
            Api.LIST_PARTITION_INFOS: self.list,
        }

    def create(self, request: messages.CreatePartitionRequest, _: Caller) -> messages.CreatePartitionResponse:
        """CREATE_PARTITION; its flag is misnamed on the wire and means ignore if it exists."""
        self._partitions.create(
            path_of(request.table_path),
            _spec_of(request.partition_spec),
            ignore_if_exists=request.ignore_if_not_exists,
        )
        return messages.CreatePartitionResponse()

    def drop(self, request: messages.DropPartitionRequest, _: Caller) -> messages.DropPartitionResponse:
        """DROP_PARTITION."""
        self._partitions.drop(
            path_of(request.table_path),
            _spec_of(request.partition_spec),
            ignore_if_not_exists=request.ignore_if_not_exists,
        )
        return messages.DropPartitionResponse()

    def list(self, request: messages.ListPartitionInfosRequest, _: Caller) -> messages.ListPartitionInfosResponse:
        """LIST_PARTITION_INFOS: all, or those with the given values."""
        partial = request.partial_partition_spec
        table, partitions = self._partitions.list(
            path_of(request.table_path), {} if partial is None else _spec_of(partial)
        )
        keys = table.descriptor.partition_keys
        remote_data_dir = self._coordinator.remote_data_dir(table)
        return messages.ListPartitionInfosResponse(
            partitions_info=tuple(
                messages.PbPartitionInfo(
                    partition_id=partition.partition_id,
                    partition_spec=messages.PbPartitionSpec(
                        partition_key_values=tuple(
                            PbKeyValue(key=key, value=value) for key, value in zip(keys, partition.values, strict=True)
                        )
                    ),
                    remote_data_dir=remote_data_dir,
                )
                for partition in partitions
            )
        )


def _spec_of(spec: messages.PbPartitionSpec) -> dict[str, str]:
    return {pair.key: pair.value for pair in spec.partition_key_values}
