"""ShortAppends: a row or a few, sent and acknowledged on the caller's own thread.

What goes wrong is left to a sender: it has the same writer id and the same number for the batch, so that a server that
has the batch already knows it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.direct_channel import DirectChannel
from lakeward.client.cluster.writer_ids import WriterIdentity, WriterIds
from lakeward.client.forms.results import AppendResult
from lakeward.client.write.delivery import LogDelivery
from lakeward.client.write.lane import SEQUENCES, Outgoing, Sealable
from lakeward.client.write.sender import Sender
from lakeward.client.write.writer import builder_for
from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.records.batch.batch_header import NO_SEQUENCE, NO_WRITER

if TYPE_CHECKING:
    from lakeward.client.write.routing import Router

#: What is larger leaves on its way, piece by piece, and is better looked after by the event loop.
_BYTES_MAX = 16 * 1024


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A batch that has left once, or was refused; `attempts` is 0 if the server surely does not have it."""

    rows: Sealable
    row_count: int
    bucket: TableBucket
    identity: WriterIdentity
    attempts: int


class ShortAppends:
    """The short way into one log table."""

    def __init__(self, cluster: Cluster, ids: WriterIds, info: TableInfo, router: Router) -> None:
        descriptor, settings = info.descriptor, cluster.settings
        self._cluster = cluster
        self._ids = ids
        self._info = info
        self._router = router
        self._delivery = LogDelivery(info)
        self._is_open = bool(settings.retries and not descriptor.has_primary_key and not descriptor.partition_keys)
        self._builder = builder_for(info) if self._is_open else None

    def append(self, data: Any) -> AppendResult | Undelivered | None:
        """Append a few rows of plain values; None where the long way must be taken, because nothing was sent."""
        from lakeward.client.forms.few_rows import few_rows

        rows = few_rows(data, self._info.schema) if self._builder is not None else None
        if rows is None:
            return None
        assert self._builder is not None
        routed = list(self._router.route(rows))
        if len(routed) > 1:
            return None
        number = routed[0][0].bucket
        bucket = TableBucket(self._info.table_id, None, self._router.next_bucket(None) if number is None else number)
        with self._cluster.lines.take(self._cluster.metadata.leader(bucket)) as line:
            encoded = None if line is None else self._builder.encode(rows)
            if line is None or encoded is None or encoded.size > _BYTES_MAX:
                return None
            identity = self._identity()
            return None if identity is None else self._send(line, bucket, identity, encoded, rows.num_rows)

    def _identity(self) -> WriterIdentity | None:
        return self._ids.take_idle() if self._cluster.settings.idempotent else WriterIdentity(NO_WRITER)

    def _send(
        self, line: DirectChannel, bucket: TableBucket, identity: WriterIdentity, rows: Sealable, row_count: int
    ) -> AppendResult | Undelivered:
        is_numbered = identity.writer_id != NO_WRITER
        sequence = identity.next_sequences.get(bucket, 0) if is_numbered else NO_SEQUENCE
        sealed = rows.seal(self._info.schema_id, identity.writer_id, sequence)
        request = self._delivery.request([(bucket, sealed)], self._cluster.settings)
        try:
            told = line.ask(self._delivery.api, request).buckets_resp
        except LakewardError:
            return Undelivered(rows, row_count, bucket, identity, attempts=1 if line.closed else 0)
        if len(told) != 1 or told[0].bucket_id != bucket.bucket:
            return Undelivered(rows, row_count, bucket, identity, attempts=1)
        if told[0].error_code:
            return Undelivered(rows, row_count, bucket, identity, attempts=0)
        if is_numbered:
            identity.next_sequences[bucket] = (sequence + 1) % SEQUENCES
            self._ids.give_back(identity)
        return AppendResult(row_count, 1, rows.size)

    async def deliver(self, left: Undelivered) -> AppendResult:
        """Send a batch until it is settled, as a writer does; on the event loop."""
        sender = Sender(self._cluster, self._info, self._delivery, self._ids, left.identity)
        batch = Outgoing(left.row_count, left.rows.size, attempts=left.attempts)
        if left.attempts:  # who did not answer on a line is not waited for once more on a channel
            self._cluster.metadata.forget(left.bucket)
        try:
            sender.submit(left.bucket, None, batch)
            sender.fill(left.bucket, batch, left.rows)
            sender.pump()
            await sender.drain()
        finally:
            sender.close()
        return AppendResult(sender.rows, sender.batches, sender.bytes)
