"""ToldOffsets: how much of a followed log need not stay here: NOTIFY_REMOTE_LOG_OFFSETS, NOTIFY_KV_SNAPSHOT_OFFSET."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.servers import orders as messages
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.buckets.logs import Logs


class ToldOffsets:
    """What the leader has brought to remote storage may go here, as far as no state is rebuilt from it."""

    def __init__(
        self,
        logs: Logs,
        led: Leadership,
        learn: Callable[[TableBucket], Awaitable[None]],
        retain: Callable[[TableBucket], None],
        *,
        is_restored: bool,
    ) -> None:
        """`learn` asks which manifest counts of a bucket that is led; `retain` lets go of what may go. Where a state
        can not be restored from the snapshots of others, `is_restored` is False and the whole log of it stays."""
        self._logs = logs
        self._led = led
        self._learn = learn
        self._retain = retain
        self._is_restored = is_restored
        self._kept_from: dict[TableBucket, int] = {}

    def floor(self, bucket: TableBucket) -> int | None:
        """From where on a log must be kept to rebuild its state; None when nobody has told."""
        return self._kept_from.get(bucket)

    def forget(self, is_gone: Callable[[TableBucket], bool]) -> None:
        """Buckets were dropped with their tables."""
        for bucket in [one for one in self._kept_from if is_gone(one)]:
            del self._kept_from[bucket]

    async def notify_remote(
        self, request: messages.NotifyRemoteLogOffsetsRequest
    ) -> messages.NotifyRemoteLogOffsetsResponse:
        """NOTIFY_REMOTE_LOG_OFFSETS: the leader has copied more of its log."""
        bucket = TableBucket(request.table_id, request.partition_id, request.bucket_id)
        log = self._logs.find(bucket)
        if bucket in self._led:  # committed by one that led before; what counts is what the cluster names now
            await self._learn(bucket)
        elif log is not None and log.copied_offset is not None and request.remote_end_offset > log.copied_offset:
            log.note_copy(request.remote_end_offset)
            self._retain(bucket)
        return messages.NotifyRemoteLogOffsetsResponse()

    async def notify_snapshot(
        self, request: messages.NotifyKvSnapshotOffsetRequest
    ) -> messages.NotifyKvSnapshotOffsetResponse:
        """NOTIFY_KV_SNAPSHOT_OFFSET: the leader's state is rebuilt from this offset on."""
        bucket = TableBucket(request.table_id, request.partition_id, request.bucket_id)
        if self._is_restored:
            self._kept_from[bucket] = max(self._kept_from.get(bucket, 0), request.min_retain_offset)
            self._retain(bucket)
        return messages.NotifyKvSnapshotOffsetResponse()
