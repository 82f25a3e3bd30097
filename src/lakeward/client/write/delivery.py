"""Delivery: what a sender's requests look like, for rows of a log and for changes by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

from lakeward.client.forms.settings import ClientSettings
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import PbPutKvReqForBucket, PutKvRequest
from lakeward.protocol.messages.log import PbProduceLogReqForBucket, ProduceLogRequest
from lakeward.rpc.channel import Channel

#: One bucket's sealed batch.
Addressed: TypeAlias = "tuple[TableBucket, memoryview | bytearray]"
#: How long a bucket rests when its store refuses more, and, by the square of the pressure, before it does.
PRESSURE_PAUSE_MS_MAX = 3000.0


class Delivery(Protocol):
    """Turns batches into requests of one API, and reads what answers say beside the outcome."""

    api: Api
    verb: str
    """What the writer does, for messages: `Append to`."""

    def check(self, channel: Channel) -> None:
        """Refuse a server that would misunderstand the batches."""
        ...

    def request(self, batches: Iterable[Addressed], settings: ClientSettings) -> Any:
        """A request that carries one batch per bucket."""
        ...

    def pause_ms(self, answer: Any) -> float:
        """How long to leave a bucket alone after this answer of its leader."""
        ...


class LogDelivery:
    """Rows into the log of a table."""

    api = Api.PRODUCE_LOG
    verb = "Append to"

    def __init__(self, info: TableInfo) -> None:
        self._table_id = info.table_id

    def check(self, channel: Channel) -> None:
        """Every server understands log batches."""

    def request(self, batches: Iterable[Addressed], settings: ClientSettings) -> ProduceLogRequest:
        """A PRODUCE_LOG request."""
        return ProduceLogRequest(
            acks=settings.acks,
            table_id=self._table_id,
            timeout_ms=settings.request_timeout_ms,
            buckets_req=tuple(
                PbProduceLogReqForBucket(partition_id=b.partition_id, bucket_id=b.bucket, records=records)
                for b, records in batches
            ),
        )

    def pause_ms(self, answer: Any) -> float:  # noqa: ARG002 - logs know no pressure
        """None."""
        return 0


class KvDelivery:
    """Changes by key into a primary key table; `target_columns` are positions, none for whole rows.

    `check_version` refuses servers that are too old for the table's keys.
    """

    api = Api.PUT_KV
    verb = "Upsert into"

    def __init__(
        self, info: TableInfo, target_columns: tuple[int, ...], check_version: Callable[[Channel, Api], None]
    ) -> None:
        self._table_id = info.table_id
        self._target_columns = target_columns
        self._check_version = check_version

    def check(self, channel: Channel) -> None:
        """The server must know how the keys are encoded."""
        self._check_version(channel, self.api)

    def request(self, batches: Iterable[Addressed], settings: ClientSettings) -> PutKvRequest:
        """A PUT_KV request."""
        return PutKvRequest(
            acks=settings.acks,
            table_id=self._table_id,
            timeout_ms=settings.request_timeout_ms,
            target_columns=self._target_columns,
            buckets_req=tuple(
                PbPutKvReqForBucket(partition_id=b.partition_id, bucket_id=b.bucket, records=records)
                for b, records in batches
            ),
        )

    def pause_ms(self, answer: Any) -> float:
        """By the pressure that the store reports, from 0 to 1."""
        pressure = float(answer.pressure or 0)
        return PRESSURE_PAUSE_MS_MAX * pressure * pressure
