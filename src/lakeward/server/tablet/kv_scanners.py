"""SCAN_KV: cursors over the state of a bucket as it was when they were opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.kv import PbScanReqForBucket, ScanKvRequest, ScanKvResponse
from lakeward.records.spans import Spans
from lakeward.records.value_batch import encode_value_batch
from lakeward.rpc.dispatch import Exchange
from lakeward.runtime.entropy import Entropy
from lakeward.server.tablet.tablets import Tablets
from lakeward.storage.kv.store import KvView

_BATCH_BYTES_MAX = 10 << 20
_PER_BUCKET_MAX = 8
_PER_SERVER_MAX = 200
_TTL_MS = 600_000


@dataclass(slots=True)
class _Scanner:
    """A cursor: what it reads, how many rows it may still give, and which call comes next."""

    bucket: TableBucket
    view: KvView
    rows_left: int
    next_call: int
    used_ms: int


class KvScanners:
    """The cursors that are open. One that is not used for ten minutes is closed."""

    def __init__(self, tablets: Tablets, entropy: Entropy, now_ms: Callable[[], int]) -> None:
        self._tablets = tablets
        self._entropy = entropy
        self._now_ms = now_ms
        self._open: dict[bytes, _Scanner] = {}
        self._expired: dict[bytes, int] = {}

    def handle(self, request: ScanKvRequest, _exchange: Exchange) -> ScanKvResponse:
        """Open, continue or close a cursor."""
        self._expire()
        try:
            if request.close_scanner:
                return self._close(request)
            if (request.scanner_id is None) == (request.bucket_scan_req is None):
                raise _invalid("a scan needs either a scanner or a bucket")
            if request.batch_size_bytes is None or request.batch_size_bytes <= 0:
                raise _invalid("the batch size must be above 0")
            if request.bucket_scan_req is not None:
                return self._begin(request.bucket_scan_req, request)
            return self._continue(request)
        except LakewardError as wrong:
            if request.scanner_id is not None:
                self._forget(request.scanner_id)
            return ScanKvResponse(error_code=wrong.code.value, error_message=wrong.message)

    def _begin(self, asked: PbScanReqForBucket, request: ScanKvRequest) -> ScanKvResponse:
        bucket = TableBucket(asked.table_id, asked.partition_id, asked.bucket_id)
        if request.call_seq_id not in {None, 0}:
            raise _invalid("the first call has number 0")
        kv = self._tablets.kv(bucket)
        offset = kv.log.end_offset
        if not kv.row_count:
            return ScanKvResponse(has_more_results=False, log_offset=offset, records=b"")
        beside = sum(1 for s in self._open.values() if s.bucket == bucket)
        if beside >= _PER_BUCKET_MAX or len(self._open) >= _PER_SERVER_MAX:
            raise ErrorCode.TOO_MANY_SCANNERS.error(
                f"{beside} scanners of {bucket} and {len(self._open)} in all are open."
            )
        view = kv.view()
        limit = asked.limit if asked.limit is not None and asked.limit > 0 else view.row_count
        scanner = _Scanner(bucket, view, min(limit, view.row_count), 1, self._now_ms())
        scanner_id = self._entropy.uuid().hex.encode()
        self._open[scanner_id] = scanner
        return self._next(scanner_id, scanner, request, offset)

    def _continue(self, request: ScanKvRequest) -> ScanKvResponse:
        assert request.scanner_id is not None
        scanner = self._open.get(request.scanner_id)
        if scanner is None:
            if request.scanner_id in self._expired:
                raise ErrorCode.SCANNER_EXPIRED.error()
            raise ErrorCode.UNKNOWN_SCANNER_ID.error()
        if request.call_seq_id != scanner.next_call:
            raise _invalid(f"call {scanner.next_call} comes next, not {request.call_seq_id}")
        self._tablets.table(scanner.bucket)
        scanner.next_call += 1
        scanner.used_ms = self._now_ms()
        return self._next(request.scanner_id, scanner, request, None)

    def _next(
        self, scanner_id: bytes, scanner: _Scanner, request: ScanKvRequest, log_offset: int | None
    ) -> ScanKvResponse:
        assert request.batch_size_bytes is not None
        values = scanner.view.read(min(request.batch_size_bytes, _BATCH_BYTES_MAX)).values
        count = min(len(values), scanner.rows_left)
        scanner.rows_left -= count
        records = encode_value_batch(Spans([values.buffer], values.starts[:count], values.ends[:count]))
        more = scanner.rows_left > 0
        if not more:
            self._forget(scanner_id)
        return ScanKvResponse(scanner_id=scanner_id, has_more_results=more, records=records, log_offset=log_offset)

    def _close(self, request: ScanKvRequest) -> ScanKvResponse:
        if request.scanner_id is None or request.bucket_scan_req is not None:
            raise _invalid("closing needs a scanner and nothing else")
        self._forget(request.scanner_id)
        return ScanKvResponse(scanner_id=request.scanner_id, has_more_results=False)

    def _forget(self, scanner_id: bytes) -> None:
        scanner = self._open.pop(scanner_id, None)
        if scanner is not None:
            scanner.view.close()

    def _expire(self) -> None:
        now_ms = self._now_ms()
        for scanner_id in [i for i, s in self._open.items() if now_ms - s.used_ms > _TTL_MS]:
            self._forget(scanner_id)
            self._expired[scanner_id] = now_ms
        self._expired = {i: at for i, at in self._expired.items() if now_ms - at <= 2 * _TTL_MS}


def _invalid(what: str) -> LakewardError:
    return ErrorCode.INVALID_SCAN_REQUEST.error(f"The scan request is invalid: {what}.")
