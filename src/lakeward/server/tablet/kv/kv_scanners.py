"""SCAN_KV: cursors over the state of a bucket as it was when they were opened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.kv import PbScanReqForBucket, ScanKvRequest, ScanKvResponse
from lakeward.records.batch.value_batch import encode_value_batch
from lakeward.records.kernels.spans import Spans
from lakeward.rpc.dispatch import Exchange
from lakeward.rpc.error_answers import refusal
from lakeward.rpc.server_connection import ServerConnection
from lakeward.runtime.entropy import Entropy
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.tablet.kv.kv_gate import LARGE_ROWS
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.server.tablet.state.states import States
from lakeward.storage.kv.store.store import KvView

_BATCH_BYTES_MAX = 10 << 20
_PER_BUCKET_MAX = 8
_PER_SERVER_MAX = 200
_TTL_MS = 600_000
_WATCHED = "cursors watched"


@dataclass(slots=True)
class _Scanner:
    """A cursor: what it reads, how many rows it may still give, and which call comes next."""

    bucket: TableBucket
    connection: ServerConnection
    rows_left: int
    next_call: int
    used_ms: int
    #: Whether rows are read beside the loop: many rows take their time.
    is_large: bool
    view: KvView | None = None
    is_reading: bool = False
    is_forgotten: bool = False


class AskedScan(NamedTuple):
    """A call of a cursor, and the bucket that must be ready for it."""

    request: ScanKvRequest
    buckets: tuple[TableBucket, ...]


class KvScanners:
    """The cursors that are open. One that is not used for ten minutes is closed."""

    def __init__(
        self, buckets: Buckets, states: States, busy: BusyBuckets, entropy: Entropy, now_ms: Callable[[], int]
    ) -> None:
        self._buckets = buckets
        self._states = states
        self._busy = busy
        self._entropy = entropy
        self._now_ms = now_ms
        self._open: dict[bytes, _Scanner] = {}
        self._expired: dict[bytes, int] = {}

    @staticmethod
    def read(request: ScanKvRequest) -> AskedScan:
        """The bucket that a cursor is to be opened in; an open one has what it reads."""
        wanted = None if request.close_scanner or request.scanner_id is not None else request.bucket_scan_req
        if wanted is None:
            return AskedScan(request, ())
        return AskedScan(request, (TableBucket(wanted.table_id, wanted.partition_id, wanted.bucket_id),))

    def answer(self, asked: AskedScan, exchange: Exchange) -> ScanKvResponse | None:
        """Open, continue or close a cursor."""
        request = asked.request
        self._expire()
        try:
            if request.close_scanner:
                return self._close(request, exchange)
            if (request.scanner_id is None) == (request.bucket_scan_req is None):
                raise _invalid("a scan needs either a scanner or a bucket")
            if request.batch_size_bytes is None or request.batch_size_bytes <= 0:
                raise _invalid("the batch size must be above 0")
            if request.bucket_scan_req is not None:
                return self._begin(request.bucket_scan_req, request, exchange)
            return self._continue(request, exchange)
        except LakewardError as wrong:
            return self._fail(self._own(request, exchange), wrong)

    def _own(self, request: ScanKvRequest, exchange: Exchange) -> bytes | None:
        """The cursor a request names, if it is the client's own."""
        scanner = None if request.scanner_id is None else self._open.get(request.scanner_id)
        return None if scanner is None or scanner.connection is not exchange.connection else request.scanner_id

    def _fail(self, scanner_id: bytes | None, wrong: LakewardError) -> ScanKvResponse:
        if scanner_id is not None:
            self._forget(scanner_id)
        return refusal(ScanKvResponse, wrong)

    def _begin(self, asked: PbScanReqForBucket, request: ScanKvRequest, exchange: Exchange) -> ScanKvResponse | None:
        bucket = TableBucket(asked.table_id, asked.partition_id, asked.bucket_id)
        if request.call_seq_id not in {None, 0}:
            raise _invalid("the first call has number 0")
        kv = self._states.open(bucket)
        offset, row_count = kv.log.end_offset, kv.row_count
        if not row_count:
            return ScanKvResponse(has_more_results=False, log_offset=offset)  # Java cannot read no bytes
        beside = sum(1 for s in self._open.values() if s.bucket == bucket)
        if beside >= _PER_BUCKET_MAX or len(self._open) >= _PER_SERVER_MAX:
            raise ErrorCode.TOO_MANY_SCANNERS.error(
                f"{beside} scanners of {bucket} and {len(self._open)} in all are open."
            )
        limit = asked.limit if asked.limit is not None and asked.limit > 0 else row_count
        scanner = _Scanner(
            bucket, exchange.connection, min(limit, row_count), 1, self._now_ms(), row_count >= LARGE_ROWS
        )
        scanner_id = self._entropy.uuid().hex.encode()
        self._open[scanner_id] = scanner
        self._watch(exchange.connection)
        if not scanner.is_large:
            scanner.view = kv.view()
            return self._next(scanner_id, scanner, request, offset)
        self._read_beside(scanner_id, scanner, request, exchange, offset, self._busy.alone(bucket, kv.view))
        return None

    def _continue(self, request: ScanKvRequest, exchange: Exchange) -> ScanKvResponse | None:
        assert request.scanner_id is not None
        scanner = self._open.get(request.scanner_id)
        if scanner is None or scanner.connection is not exchange.connection:
            if request.scanner_id in self._expired:
                raise ErrorCode.SCANNER_EXPIRED.error()
            raise ErrorCode.UNKNOWN_SCANNER_ID.error()
        if scanner.is_reading:
            raise _invalid("the call before this one is not answered yet")
        if request.call_seq_id != scanner.next_call:
            raise _invalid(f"call {scanner.next_call} comes next, not {request.call_seq_id}")
        self._buckets.table(scanner.bucket)
        scanner.next_call += 1
        scanner.used_ms = self._now_ms()
        if not scanner.is_large:
            return self._next(request.scanner_id, scanner, request, None)
        self._read_beside(request.scanner_id, scanner, request, exchange, None)
        return None

    def _next(
        self, scanner_id: bytes, scanner: _Scanner, request: ScanKvRequest, log_offset: int | None
    ) -> ScanKvResponse:
        return self._response(scanner_id, scanner, log_offset, *_read(scanner, request))

    def _read_beside(
        self,
        scanner_id: bytes,
        scanner: _Scanner,
        request: ScanKvRequest,
        exchange: Exchange,
        log_offset: int | None,
        holding: asyncio.Future[KvView] | None = None,
    ) -> None:
        async def answer() -> ScanKvResponse:
            try:
                if holding is not None:
                    scanner.view = await holding
                count, records = await self._busy.on_thread(partial(_read, scanner, request))
            except LakewardError as wrong:
                return self._fail(scanner_id, wrong)
            finally:
                scanner.is_reading = False
                if scanner.is_forgotten and scanner.view is not None:
                    scanner.view.close()
            return self._response(scanner_id, scanner, log_offset, count, records)

        scanner.is_reading = True
        self._busy.answer_later(exchange, answer())

    def _response(
        self, scanner_id: bytes, scanner: _Scanner, log_offset: int | None, count: int, records: bytearray
    ) -> ScanKvResponse:
        scanner.rows_left -= count
        more = scanner.rows_left > 0
        if not more:
            self._forget(scanner_id)
        return ScanKvResponse(scanner_id=scanner_id, has_more_results=more, records=records, log_offset=log_offset)

    def _close(self, request: ScanKvRequest, exchange: Exchange) -> ScanKvResponse:
        if request.scanner_id is None or request.bucket_scan_req is not None:
            raise _invalid("closing needs a scanner and nothing else")
        own = self._own(request, exchange)
        if own is not None:
            self._forget(own)
        return ScanKvResponse(scanner_id=request.scanner_id, has_more_results=False)

    def _forget(self, scanner_id: bytes) -> None:
        scanner = self._open.pop(scanner_id, None)
        if scanner is None:
            return
        scanner.is_forgotten = True
        if scanner.view is not None and not scanner.is_reading:
            scanner.view.close()

    def _watch(self, connection: ServerConnection) -> None:
        """Cursors end with the connection they were opened on."""
        if _WATCHED not in connection.state:
            connection.state[_WATCHED] = True
            connection.when_closed(lambda: self._forget_all(connection))

    def _forget_all(self, connection: ServerConnection) -> None:
        for scanner_id in [i for i, scanner in self._open.items() if scanner.connection is connection]:
            self._forget(scanner_id)

    def _expire(self) -> None:
        now_ms = self._now_ms()
        for scanner_id in [i for i, s in self._open.items() if now_ms - s.used_ms > _TTL_MS]:
            self._forget(scanner_id)
            self._expired[scanner_id] = now_ms
        self._expired = {i: at for i, at in self._expired.items() if now_ms - at <= 2 * _TTL_MS}


def _read(scanner: _Scanner, request: ScanKvRequest) -> tuple[int, bytearray]:
    """The next rows as a value batch, and how many they are; on any thread."""
    assert request.batch_size_bytes is not None
    assert scanner.view is not None
    bytes_max = min(request.batch_size_bytes, _BATCH_BYTES_MAX)
    values = scanner.view.read(bytes_max, scanner.rows_left).values
    return len(values), encode_value_batch(Spans([values.buffer], values.starts, values.ends))


def _invalid(what: str) -> LakewardError:
    return ErrorCode.INVALID_SCAN_REQUEST.error(f"The scan request is invalid: {what}.")
