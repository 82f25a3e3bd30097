"""LogCopy: what a leader has sent becomes part of a follower's log."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.log import PbFetchLogRespForBucket
from lakeward.records.batch.log_batch import walk_batches
from lakeward.server.buckets.logs import Logs
from lakeward.server.replica.following import Following, Step, agreement
from lakeward.server.replica.replica import Replica
from lakeward.storage.log.replica_log import ReplicaLog

_log = logging.getLogger(__name__)


class LogCopy:
    """Compares, cuts and appends."""

    def __init__(self, logs: Logs, now_ms: Callable[[], int], on_cut: Callable[[TableBucket, int], None]) -> None:
        """`on_cut` hears that a log is about to end at an offset: what was made of the rows behind it must go first."""
        self._logs = logs
        self._now_ms = now_ms
        self._on_cut = on_cut

    def take(self, replica: Replica, one: PbFetchLogRespForBucket) -> int | None:
        """Take in what a leader has sent; an offset where the log is to be cut before, None when all is done."""
        following, log = replica.following, self._logs.open(replica.bucket)
        assert following is not None
        if one.remote_log_fetch_info is not None:
            raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(f"Offset {following.offset} is only in remote storage.")
        records = one.records
        assert not isinstance(records, list)
        data = memoryview(b"" if records is None else records)
        if following.step is Step.COMPARE:
            spans = list(walk_batches(data))
            if not spans:  # it has no more, or the answer was full: that must be known before rows are taken back
                raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(f"Nothing was sent from offset {following.offset} on.")
            ours = _bytes_from(log, following.offset, spans[-1].end if spans else 0)
            agreed = agreement(following.offset, ours, data, spans)
            cut = following.agree(agreed, log.end_offset)
            if cut is not None:
                return cut
            data = data[agreed.size :]
            if following.step is Step.COMPARE:
                return None
        self._append(replica, log, data)
        if one.high_watermark is not None:
            replica.high_watermark = max(replica.high_watermark, min(one.high_watermark, log.end_offset))
        return None

    @staticmethod
    def _append(replica: Replica, log: ReplicaLog, data: memoryview) -> None:
        assert replica.following is not None
        size = skipped = 0
        for span in walk_batches(data):  # the last one may be cut off
            size = span.end
            if span.header.last_offset < log.end_offset:
                skipped = span.end
        if size > skipped:
            log.append_copy(data[skipped:size])
        replica.following.go_on_at(log.end_offset)

    def doubt(self, replica: Replica) -> None:
        """The leader did not answer as one: it may have lost and won back its place meanwhile, so look again."""
        if replica.following is not None:
            log = self._logs.open(replica.bucket)
            replica.following = Following.begin(max(replica.high_watermark, log.start_offset), log.end_offset)

    def cut(self, replica: Replica, offset: int) -> None:
        """Take back what the leader does not have."""
        log = self._logs.open(replica.bucket)
        told = "%s: offsets %d to %d were never committed and are taken back: leader %d, epoch %d, does not have them"
        standing = replica.standing
        _log.info(told, log.name, offset, log.end_offset - 1, standing.leader, standing.leader_epoch)
        self._on_cut(replica.bucket, offset)
        log.truncate(offset, self._now_ms())
        replica.high_watermark = min(replica.high_watermark, offset)

    def locate(self, replica: Replica, leader_start: int, leader_end: int) -> None:
        """The leader's log goes from here to there; ours has to meet it."""
        following, log = replica.following, self._logs.open(replica.bucket)
        assert following is not None
        cut, begin = following.locate(leader_start, leader_end, log.end_offset)
        if cut is not None and cut < log.end_offset:
            self.cut(replica, cut)
        if begin is not None:
            _log.info("%s begins anew at offset %d, where its leader's log begins", log.name, begin)
            self._on_cut(replica.bucket, 0)
            log.begin_at(begin, self._now_ms())
            replica.high_watermark = begin


def _bytes_from(log: ReplicaLog, offset: int, size: int) -> memoryview:
    """At least so many bytes of a log from an offset on, or all that there are."""
    pieces: list[memoryview] = []
    got = 0
    while got < size and offset < log.end_offset:
        read = log.read(offset, size - got, at_least_one=True)
        pieces.append(read.data)
        got, offset = got + len(read.data), read.end_offset
    return pieces[0] if len(pieces) == 1 else memoryview(b"".join(pieces))
