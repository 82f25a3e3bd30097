"""Handlers for producer offsets."""

from __future__ import annotations

import itertools

from lakeward.model.bucket import TableBucket
from lakeward.options import server as server_options
from lakeward.protocol.api import Api
from lakeward.protocol.messages import log as messages
from lakeward.protocol.messages.shared import PbBucketOffset
from lakeward.server.books.producer_offsets import RegisteredOffsets
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers

_CREATED, _ALREADY_EXISTS = 0, 1


class ProducerHandlers:
    """Where a producer's writes began."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._config = coordinator.config
        self._clock = coordinator.clock
        self._offsets = coordinator.producer_offsets

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.REGISTER_PRODUCER_OFFSETS: self.register,
            Api.GET_PRODUCER_OFFSETS: self.get,
            Api.DELETE_PRODUCER_OFFSETS: self.delete,
        }

    def register(
        self, request: messages.RegisterProducerOffsetsRequest, _: Caller
    ) -> messages.RegisterProducerOffsetsResponse:
        """REGISTER_PRODUCER_OFFSETS: kept unless the producer has some that still count."""
        now_ms = self._clock.now_ms()
        default_ms = self._config.current.get(server_options.PRODUCER_OFFSETS_TTL)
        ttl_ms = default_ms if request.ttl_ms is None else request.ttl_ms
        offsets = {
            TableBucket(table.table_id, offset.partition_id, offset.bucket_id): offset.log_end_offset
            for table in request.table_offsets
            for offset in table.bucket_offsets
        }
        kept = self._offsets.register(RegisteredOffsets(request.producer_id, now_ms + ttl_ms, offsets), now_ms)
        return messages.RegisterProducerOffsetsResponse(result=_CREATED if kept else _ALREADY_EXISTS)

    def get(self, request: messages.GetProducerOffsetsRequest, _: Caller) -> messages.GetProducerOffsetsResponse:
        """GET_PRODUCER_OFFSETS: all fields absent for an unknown producer."""
        found = self._offsets.get(request.producer_id)
        if found is None:
            return messages.GetProducerOffsetsResponse()
        by_table = itertools.groupby(
            sorted(found.offsets.items(), key=lambda item: item[0].table_id), lambda item: item[0].table_id
        )
        return messages.GetProducerOffsetsResponse(
            producer_id=found.producer_id,
            expiration_time=found.expires_ms,
            table_offsets=tuple(
                messages.PbProducerTableOffsets(
                    table_id=table_id,
                    bucket_offsets=tuple(
                        PbBucketOffset(partition_id=b.partition_id, bucket_id=b.bucket, log_end_offset=offset)
                        for b, offset in items
                    ),
                )
                for table_id, items in by_table
            ),
        )

    def delete(
        self, request: messages.DeleteProducerOffsetsRequest, _: Caller
    ) -> messages.DeleteProducerOffsetsResponse:
        """DELETE_PRODUCER_OFFSETS: an unknown producer is fine."""
        self._offsets.delete(request.producer_id)
        return messages.DeleteProducerOffsetsResponse()
