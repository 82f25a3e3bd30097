"""The protocol without a client: appends and fetches of 1 MB batches against the loopback's own rate."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from typing import Any

import numpy as np
import pyarrow as pa

from bench.targets import Target
from lakeward.model import data_types as t
from lakeward.model.json_form import descriptor_to_json
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode_parts
from lakeward.protocol.frames import request_frame
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbProduceLogReqForBucket,
    ProduceLogRequest,
)
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.table import CreateTableRequest, DropTableRequest, GetTableInfoRequest
from lakeward.records.batch.batch_header import BatchHeader, write_header
from lakeward.records.batch.log_batch import seal

_BATCH_ROWS = 12_500
_WINDOW = 5
_PIECE = 1 << 20
RAW_TABLE = PbTablePath(database_name="fluss", table_name="bench_raw")


def loopback_rate(total_bytes: int) -> float:
    """Bytes a second through a socket on this machine, both ends in plain Python."""
    listener = socket.create_server(("127.0.0.1", 0))
    child = os.fork()
    if child == 0:
        peer, _ = listener.accept()
        buffer, got = bytearray(_PIECE), 0
        while got < total_bytes:
            got += peer.recv_into(buffer)
        peer.send(b"x")
        os._exit(0)
    peer = socket.create_connection(listener.getsockname())
    data = bytes(_PIECE)
    begun = time.perf_counter()
    for _ in range(total_bytes // _PIECE):
        peer.sendall(data)
    peer.recv(1)
    spent = time.perf_counter() - begun
    os.waitpid(child, 0)
    peer.close()
    listener.close()
    return total_bytes / spent


class RawClient:
    """A socket that speaks frames."""

    def __init__(self, target: Target | str) -> None:
        host, port = (target if isinstance(target, str) else target.bootstrap).split(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(32 << 20)

    def ask(self, api: Api, message: Any) -> Any:
        """One request, one answer."""
        self._socket.sendall(b"".join(request_frame(api.value, 0, 0, encode_parts(message))))
        body = self.receive()
        return decode(api.response, body)

    def receive(self) -> memoryview:
        """The body of the next answer."""
        self._fill(4)
        length = int.from_bytes(self._buffer[:4], "big")
        self._fill(length)
        if self._buffer[0] != 0:
            raise RuntimeError(bytes(self._buffer[:length]))
        return memoryview(self._buffer)[5:length]

    def _fill(self, size: int) -> None:
        view, got = memoryview(self._buffer), 0
        while got < size:
            got += self._socket.recv_into(view[got:size])

    def send(self, frame: bytes) -> None:
        """Bytes as they are."""
        self._socket.sendall(frame)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def measure(target: Target, megabytes: int = 300) -> tuple[float, float]:
    """Appends and fetches as shares of the loopback's rate, which is measured before and after each."""
    client = RawClient(target)
    table_id = create(client)
    frame = append_frame(table_id)
    count = (megabytes << 20) // len(frame)
    before = loopback_rate(megabytes << 20)
    append = append_all(client, frame, count)
    between = loopback_rate(megabytes << 20)
    fetch = fetch_all(client, table_id, count)
    after = loopback_rate(megabytes << 20)
    client.ask(Api.DROP_TABLE, DropTableRequest(table_path=RAW_TABLE, ignore_if_not_exists=True))
    client.close()
    return append / ((before + between) / 2), fetch / ((between + after) / 2)


def create(client: RawClient, buckets: int = 1) -> int:
    """The table, anew; its number."""
    schema = Schema.of([(f"c{i}", t.BIGINT()) for i in range(10)])
    properties = {"table.log.arrow.compression.type": "NONE"}
    descriptor = TableDescriptor(schema, bucket_count=buckets, properties=properties)
    client.ask(Api.DROP_TABLE, DropTableRequest(table_path=RAW_TABLE, ignore_if_not_exists=True))
    body = json.dumps(descriptor_to_json(descriptor)).encode()
    client.ask(Api.CREATE_TABLE, CreateTableRequest(table_path=RAW_TABLE, table_json=body, ignore_if_exists=False))
    return int(client.ask(Api.GET_TABLE_INFO, GetTableInfoRequest(table_path=RAW_TABLE)).table_id)


def append_frame(table_id: int, rows: int = _BATCH_ROWS, bucket_id: int = 0) -> bytes:
    """An append of one batch, as it goes over the wire."""
    random = np.random.default_rng(1)
    batch = pa.record_batch({f"c{i}": random.integers(0, 1 << 40, rows) for i in range(10)})
    message = batch.serialize().to_pybytes()
    header = BatchHeader(0, 0, 0, 0, 0, 1, 1, rows - 1, -1, -1, rows)
    sealed = bytearray(write_header(header) + message)
    seal(sealed)
    bucket = PbProduceLogReqForBucket(bucket_id=bucket_id, records=bytes(sealed))
    request = ProduceLogRequest(acks=-1, table_id=table_id, timeout_ms=30_000, buckets_req=(bucket,))
    return b"".join(request_frame(Api.PRODUCE_LOG.value, 0, 1, encode_parts(request)))


def append_all(client: RawClient, frame: bytes, count: int) -> float:
    """The same append again and again, a few under way; bytes a second."""
    window = threading.Semaphore(_WINDOW)

    def take_answers() -> None:
        for _ in range(count):
            client.receive()
            window.release()

    answers = threading.Thread(target=take_answers)
    begun = time.perf_counter()
    answers.start()
    for _ in range(count):
        window.acquire()
        client.send(frame)
    answers.join()
    return count * len(frame) / (time.perf_counter() - begun)


def fetch_all(client: RawClient, table_id: int, count: int, bucket_id: int = 0) -> float:
    """One batch after the other; bytes a second."""
    begun = time.perf_counter()
    total = 0
    for number in range(count):
        bucket = PbFetchLogReqForBucket(bucket_id=bucket_id, fetch_offset=number * _BATCH_ROWS, max_fetch_bytes=_PIECE)
        asked = PbFetchLogReqForTable(table_id=table_id, projection_pushdown_enabled=False, buckets_req=(bucket,))
        request = FetchLogRequest(
            follower_server_id=-1, max_bytes=16 << 20, tables_req=(asked,), max_wait_ms=0, min_bytes=1
        )
        client.send(b"".join(request_frame(Api.FETCH_LOG.value, 0, 1, encode_parts(request))))
        total += len(client.receive())
    return total / (time.perf_counter() - begun)
