"""Answers about tables whose buckets are bytes already: thousands of them, always the same, are encoded once.

The bytes on the wire are those of `metadata`, but that buckets stand behind the fields that follow them.
"""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, message, payload
from lakeward.protocol.messages.metadata import PbServerNode


@message
class PackedMetadataResponse:
    """GET_METADATA (1012), answered; each element is an encoded PbTableMetadata or PbPartitionMetadata."""

    coordinator_server: PbServerNode | None = f(1, default=None)
    tablet_servers: tuple[PbServerNode, ...] = f(2, default=())
    table_metadata: tuple[payload, ...] = f(3, default=())
    partition_metadata: tuple[payload, ...] = f(4, default=())
