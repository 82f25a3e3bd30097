"""What a careless or hostile client may do to a server, on loopback and bounded in count and time.

Each attack takes the address of a server whose tables were made by `prepare`, and a scale: 1.0 is what the benchmark
runs, tests take a small part of it. It returns what the server said.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from arrow_batches import ids_batch
from wire_client import HELLO, WireClient, WireCluster
from wire_kv import WireKv
from wire_tables import WireTable, create_database, table_json

from lakeward.protocol.api import Api
from lakeward.protocol.codec import encode
from lakeward.protocol.frames import SUCCESS
from lakeward.protocol.messages.kv import (
    LookupRequest,
    PbLookupReqForBucket,
    PbPrefixLookupReqForBucket,
    PbScanReqForBucket,
    PrefixLookupRequest,
    ScanKvRequest,
)
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    InitWriterRequest,
    LimitScanRequest,
    ListOffsetsRequest,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbProduceLogReqForBucket,
    ProduceLogRequest,
)
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.table import CreateTableRequest

DATABASE = "fair"
_VALUE_BYTES = 1 << 20
_WIDE_BUCKETS = 4096
_KEYED_ROWS = 20_000
_FETCH_BYTES = 16 << 20


class Said(NamedTuple):
    """What became of an attack: how many requests were answered, and the errors that were told."""

    answered: int = 0
    errors: tuple[str, ...] = ()


Attack = Callable[[str, float], Said]


def path(name: str) -> PbTablePath:
    """A table of these attacks."""
    return PbTablePath(database_name=DATABASE, table_name=name)


def prepare(bootstrap: str, scale: float = 1.0) -> None:
    """The tables that are attacked: one of one bucket, one of many, one of keys with one large value."""
    with WireCluster.of(bootstrap) as cluster:
        create_database(cluster, DATABASE)
        WireTable.create(cluster, DATABASE, "plain").append(ids_batch(list(range(100))))
        WireTable.create(cluster, DATABASE, "zeros")
        wide = CreateTableRequest(
            table_path=path("wide"),
            table_json=table_json(("id", "BIGINT"), bucket_count=max(16, int(_WIDE_BUCKETS * scale))),
            ignore_if_exists=False,
        )
        cluster.coordinator.call(Api.CREATE_TABLE, wide)
        keyed = WireKv.create(cluster, DATABASE, "keyed")
        rows = max(1000, int(_KEYED_ROWS * scale))
        for at in range(1, rows, 5000):
            keyed.upsert(*((n, "name", n) for n in range(at, min(at + 5000, rows))))
        keyed.upsert((0, "x" * _VALUE_BYTES, 0))


def _table_id(client: WireClient, name: str) -> int:
    return client.call(Api.GET_METADATA, MetadataRequest(table_path=(path(name),))).table_metadata[0].table_id


def _ask(client: WireClient, api: Api, message: Any, times: int = 1) -> Said:
    """The same request some times, one after the other."""
    answered, errors = 0, []
    for _ in range(times):
        frame = client.frame_of(client.send(api, message))
        answered += 1
        if frame.kind != SUCCESS:
            errors.append(frame.error.error_message or str(frame.error.error_code))
    return Said(answered, tuple(errors))


def _flood(bootstrap: str, frames: bytes, count: int, connections: int, *, seconds: float = 20.0) -> Said:
    """Send many requests on some connections, and read the answers without looking at them."""
    end = time.monotonic() + seconds
    taken = []

    def drain(client: socket.socket) -> None:
        got = 0
        with contextlib.suppress(OSError):
            while time.monotonic() < end and (piece := len(client.recv(1 << 18))):
                got += piece
        taken.append(got)

    def send(client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            client.sendall(frames * count)
            client.shutdown(socket.SHUT_WR)

    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(WireClient.of(bootstrap)).socket for _ in range(connections)]
        threads = [threading.Thread(target=act, args=(c,), daemon=True) for c in clients for act in (drain, send)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.1, end - time.monotonic()))
    return Said(sum(1 for got in taken if got))


# -- requests that ask for much


def repeated_lookup(bootstrap: str, scale: float) -> Said:
    """A few kilobytes that name a key of 1 MB 2,000 times."""
    with WireClient.of(bootstrap) as client:
        key = b"\x00"  # BIGINT 0 in compacted form
        one = PbLookupReqForBucket(bucket_id=0, keys=(key,) * int(2000 * scale))
        request = LookupRequest(table_id=_table_id(client, "keyed"), buckets_req=(one,))
        answers = [client.call(Api.LOOKUP, request) for _ in range(3)]
        return Said(3, tuple(a.buckets_resp[0].error_message for a in answers if a.buckets_resp[0].error_code))


def every_prefix(bootstrap: str, scale: float) -> Said:
    """A prefix lookup that matches every row, many times over."""
    with WireClient.of(bootstrap) as client:
        one = PbPrefixLookupReqForBucket(bucket_id=0, keys=(b"",) * int(200 * scale))
        request = PrefixLookupRequest(table_id=_table_id(client, "keyed"), buckets_req=(one,))
        answers = [client.call(Api.PREFIX_LOOKUP, request) for _ in range(3)]
        return Said(3, tuple(a.buckets_resp[0].error_message for a in answers if a.buckets_resp[0].error_code))


def huge_limit(bootstrap: str, scale: float) -> Said:
    """LIMIT_SCAN without an end, of keys and of a log."""
    with WireClient.of(bootstrap) as client:
        answered = 0
        for name in ("keyed", "plain") * int(20 * scale):
            request = LimitScanRequest(table_id=_table_id(client, name), bucket_id=0, limit=2**31 - 1)
            answered += _ask(client, Api.LIMIT_SCAN, request).answered
        return Said(answered)


def many_offsets(bootstrap: str, scale: float) -> Said:
    """LIST_OFFSETS with as many ids as a request may name, and with more."""
    with WireClient.of(bootstrap) as client:
        told = Said()
        for count in (int(29_000 * scale), 200_000):
            request = ListOffsetsRequest(
                follower_server_id=-1, offset_type=1, table_id=_table_id(client, "wide"), bucket_id=(0,) * count
            )
            told = Said(told.answered + 3, told.errors + _ask(client, Api.LIST_OFFSETS, request, 3).errors)
        return told


def _fetch(table_id: int, buckets: Iterator[int], **more: Any) -> FetchLogRequest:
    asked = tuple(
        PbFetchLogReqForBucket(partition_id=None, bucket_id=b, fetch_offset=0, max_fetch_bytes=_FETCH_BYTES)
        for b in buckets
    )
    table = PbFetchLogReqForTable(table_id=table_id, projection_pushdown_enabled=False, buckets_req=asked)
    return FetchLogRequest(**({"follower_server_id": -1, "max_bytes": _FETCH_BYTES, "tables_req": (table,)} | more))


def wide_fetches(bootstrap: str, scale: float) -> Said:
    """Fetches of all buckets, of one bucket 10,000 times, of 100,000 buckets."""
    with WireClient.of(bootstrap) as client:
        told = Said()
        wide, plain = _table_id(client, "wide"), _table_id(client, "plain")
        for request in (
            _fetch(wide, iter(range(int(_WIDE_BUCKETS * scale)))),
            _fetch(plain, iter([0] * int(10_000 * scale))),
            _fetch(wide, iter(range(100_000))),
        ):
            told = Said(told.answered + 2, told.errors + _ask(client, Api.FETCH_LOG, request, 2).errors)
        return told


def tiny_batches(bootstrap: str, scale: float) -> Said:
    """Appends of one row to each of thousands of buckets."""
    with WireClient.of(bootstrap) as client:
        buckets = tuple(
            PbProduceLogReqForBucket(bucket_id=n, records=bytes(ids_batch([n]))) for n in range(int(4096 * scale))
        )
        request = ProduceLogRequest(acks=-1, table_id=_table_id(client, "wide"), timeout_ms=30_000, buckets_req=buckets)
        return _ask(client, Api.PRODUCE_LOG, request, 3)


def packed_zeros(bootstrap: str, scale: float) -> Said:
    """Appends of some kilobytes that decompress to 100 MB."""
    batch = bytes(ids_batch([0] * int(12_000_000 * scale), "zstd"))
    with WireClient.of(bootstrap) as client:
        one = PbProduceLogReqForBucket(bucket_id=0, records=batch)
        request = ProduceLogRequest(acks=-1, table_id=_table_id(client, "zeros"), timeout_ms=30_000, buckets_req=(one,))
        return _ask(client, Api.PRODUCE_LOG, request, 10)


# -- many requests


def tiny_requests(bootstrap: str, scale: float) -> Said:
    """Eight connections with 1.4 million tiny requests."""
    frame = struct.pack(">ihhi", 8 + len(encode(HELLO)), Api.API_VERSIONS.value, 0, 1) + encode(HELLO)
    return _flood(bootstrap, frame * 100, int(1750 * scale), 8)


def metadata_flood(bootstrap: str, scale: float) -> Said:
    """42 KB of GET_METADATA for a table of many buckets."""
    body = encode(MetadataRequest(table_path=(path("wide"),)))
    frame = struct.pack(">ihhi", 8 + len(body), Api.GET_METADATA.value, 0, 1) + body
    return _flood(bootstrap, frame, int(1500 * scale), 1)


def unknown_tables(bootstrap: str, scale: float) -> Said:
    """GET_METADATA for tables that are not there."""
    body = encode(MetadataRequest(table_path=tuple(path(f"none{n}") for n in range(1000))))
    frame = struct.pack(">ihhi", 8 + len(body), Api.GET_METADATA.value, 0, 1) + body
    return _flood(bootstrap, frame, int(500 * scale), 4)


def new_writers(bootstrap: str, scale: float) -> Said:
    """INIT_WRITER without an end."""
    body = encode(InitWriterRequest(table_path=(path("plain"),)))
    frame = struct.pack(">ihhi", 8 + len(body), Api.INIT_WRITER.value, 0, 1) + body
    return _flood(bootstrap, frame * 10, int(10_000 * scale), 4)


def new_tables(bootstrap: str, scale: float) -> Said:
    """CREATE_TABLE as fast as it goes."""
    with WireClient.of(bootstrap) as client:
        stamp = time.monotonic_ns()
        json = table_json(("id", "BIGINT"))
        requests = [
            (
                Api.CREATE_TABLE,
                CreateTableRequest(table_path=path(f"t{stamp}_{n}"), table_json=json, ignore_if_exists=False),
            )
            for n in range(int(1000 * scale))
        ]
        return Said(sum(client.receive().kind == SUCCESS for _ in client.send_all(requests)))


def metrics_flood(bootstrap: str, scale: float) -> Said:
    """Thousands of GET /metrics."""
    host, port = bootstrap.rsplit(":", 1)
    answered = 0
    for _ in range(int(2000 * scale)):
        with socket.create_connection((host, int(port)), 30) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            answered += client.recv(1 << 16).startswith(b"HTTP/1.1 200")
    return Said(answered)


# -- clients that hold on


@contextlib.contextmanager
def unread_flood(bootstrap: str, scale: float) -> Iterator[list[WireClient]]:
    """Requests without an end whose answers nobody reads; the connections are open until the block ends."""
    body = encode(MetadataRequest(table_path=(path("wide"),)))
    frame = struct.pack(">ihhi", 8 + len(body), Api.GET_METADATA.value, 0, 1) + body
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(WireClient.of(bootstrap)) for _ in range(8)]
        for client in clients:
            client.socket.settimeout(0.5)
            with contextlib.suppress(OSError):
                client.send_bytes(frame * int(20_000 * scale))
        yield clients


@contextlib.contextmanager
def parked_fetches(bootstrap: str, scale: float) -> Iterator[list[WireClient]]:
    """10,000 fetches that wait for rows of one bucket."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(WireClient.of(bootstrap)) for _ in range(max(1, int(100 * scale)))]
        request = _fetch(_table_id(clients[0], "plain"), iter([0]), min_bytes=1 << 30, max_wait_ms=30_000)
        for client in clients:
            client.send_all([(Api.FETCH_LOG, request)] * 100)
        yield clients


@contextlib.contextmanager
def unfinished_frames(bootstrap: str, scale: float) -> Iterator[list[WireClient]]:
    """Twelve frames of 95 MB of which the last byte never comes."""
    size = int((95 << 20) * scale)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(WireClient.of(bootstrap)) for _ in range(12)]
        for client in clients:
            client.socket.settimeout(2)
            with contextlib.suppress(OSError):
                client.send_bytes(struct.pack(">ihhi", size + 9, Api.PRODUCE_LOG.value, 0, 0) + bytes(size))
        yield clients


@contextlib.contextmanager
def abandoned_cursors(bootstrap: str, _scale: float) -> Iterator[list[WireClient]]:
    """Eight cursors over a bucket whose clients went away."""
    for _ in range(8):
        with WireClient.of(bootstrap) as client:
            asked = PbScanReqForBucket(table_id=_table_id(client, "keyed"), bucket_id=0)
            client.call(Api.SCAN_KV, ScanKvRequest(bucket_scan_req=asked, call_seq_id=0, batch_size_bytes=100))
    yield []


@contextlib.contextmanager
def idle_connections(bootstrap: str, scale: float) -> Iterator[list[socket.socket]]:
    """Thousands of connections that say two bytes and no more."""
    host, port = bootstrap.rsplit(":", 1)
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(int(5000 * scale)):
            clients.append(stack.enter_context(socket.create_connection((host, int(port)), 30)))
            clients[-1].sendall(b"\x00\x00")
        yield clients


@contextlib.contextmanager
def slow_headers(bootstrap: str, scale: float) -> Iterator[list[socket.socket]]:
    """HTTP requests whose headers do not end."""
    host, port = bootstrap.rsplit(":", 1)
    with contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection((host, int(port)), 30)) for _ in range(int(500 * scale))
        ]
        for client in clients:
            client.sendall(b"GET /metrics HTTP/1.1\r\nX-Slow: ")
        yield clients
