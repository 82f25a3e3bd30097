"""Fetches answered in pieces: the buckets of a table are encoded some at a time. The wire has the bytes of `log`."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, message, payload
from lakeward.protocol.messages.log import PbFetchLogRespForBucket


@message
class PackedFetchLogResponse:
    """FETCH_LOG (1015), answered; each table is an encoded PbFetchLogRespForTable."""

    tables_resp: tuple[payload, ...] = f(1, default=())


@message
class PbSomeFetchedBuckets:
    """Some more buckets of a PbFetchLogRespForTable."""

    buckets_resp: tuple[PbFetchLogRespForBucket, ...] = f(2, default=())
