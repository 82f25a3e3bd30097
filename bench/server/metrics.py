"""`python -m bench.server.metrics [--rounds N]`: what counting costs an append, and how long a scrape of many tables
holds the event loop.

Appends go through a whole server in this process, without a network, once with everything that is counted and once
without, in turn; the CPU time of the two is compared. Prints; docs/guides/metrics.md has the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import statistics
import tempfile
import time
import timeit
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import uvloop
from tests.support.fake_transport import feed

import lakeward
from bench.server.raw_work import RawClient, append_frame, create
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.rpc.server_connection import ServerConnection
from lakeward.server.doors import Doors
from lakeward.server.node import Node, start_node
from lakeward.server.tablet.requests.traffic import Traffic

_APPENDS = 100
_ROWS = (1, 100)


class _Sink:
    """A transport that throws answers away."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self.answers = 0

    def get_extra_info(self, name: str) -> Any:
        """Where the two ends are."""
        return {"socket": self._socket, "peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 1)}.get(name)

    def writelines(self, _parts: Iterable[bytes]) -> None:
        """An answer."""
        self.answers += 1

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: 0


class _NoTraffic(Traffic):
    """Counts nothing."""

    def __missing__(self, table_id: int) -> Any:
        return SimpleNamespace(take_in=lambda *_: None)


def _appends_of(node: Node) -> Any:
    handler = node.roles._service.handlers
    return next(value for api, value in handler.items() if api.name == "PRODUCE_LOG").__self__


async def _spent_s(node: Node, frame: bytes) -> float:
    """CPU seconds of some appends."""
    sink = _Sink()
    connection: ServerConnection = node.front.connection(node.front._listeners[0])
    connection.connection_made(sink)  # type: ignore[arg-type]
    begun = time.process_time()
    for number in range(_APPENDS):
        feed(connection, frame)
        while sink.answers <= number:  # noqa: ASYNC110 - an event would be counted, too
            await asyncio.sleep(0)
    spent = time.process_time() - begun
    connection.connection_lost(None)
    return spent


async def _compare(node: Node, frame: bytes, rounds: int) -> tuple[float, float]:
    """Median CPU seconds of an append with and without."""
    dispatcher, appends = node.front._dispatcher, _appends_of(node)
    meter = dispatcher._witness
    ledger = meter._ledger  # quotas, grants and the audit log are there with or without metrics
    bare = SimpleNamespace(on_request=ledger.on_request, on_answer=ledger.on_answer)
    ways = {"with": (meter, appends._traffic), "without": (bare, _NoTraffic())}
    found: dict[str, list[float]] = {"with": [], "without": []}
    for number in range(rounds + 1):
        for way in ("with", "without") if number % 2 else ("without", "with"):
            dispatcher._witness, appends._traffic = ways[way]
            spent = await _spent_s(node, frame)
            if number:  # the first round warms up
                found[way].append(spent / _APPENDS)
    dispatcher._witness, appends._traffic = ways["with"]
    return statistics.median(found["with"]), statistics.median(found["without"])


def _counting_s(node: Node) -> float:
    """CPU seconds of what is counted for one append, alone: more certain than a difference of two large figures."""
    meter, traffic = node.front._dispatcher._witness, Traffic()
    ledger, meter._ledger = meter._ledger, SimpleNamespace(on_request=_nothing, on_answer=_nothing)
    exchange, now = SimpleNamespace(api=Api.PRODUCE_LOG, begun_s=0.0), meter._now

    def count() -> None:
        exchange.begun_s = now()
        meter.on_request(exchange, 100)
        traffic[1].take_in(1, 100)
        meter.on_answer(exchange, 100, None)

    spent = min(timeit.repeat(count, number=20_000, repeat=9, timer=time.process_time)) / 20_000
    meter._ledger = ledger
    return spent


def _nothing(*_: object) -> None:
    """What a ledger does here."""


async def _longest_hold_s(bootstrap: str) -> tuple[float, float, int]:
    """How long the loop was held at most while metrics were scraped, how long that took, and how many lines came."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - begun)

    watching = asyncio.create_task(watch())
    begun = time.perf_counter()
    reader, writer = await asyncio.open_connection(*bootstrap.split(":"))
    writer.write(b"GET /metrics HTTP/1.1\r\n\r\n")
    body = await reader.read()
    writer.close()
    spent = time.perf_counter() - begun
    watching.cancel()
    return longest, spent, body.count(b"\n")


def _fill(bootstrap: str, tables: int) -> None:
    with lakeward.connect(bootstrap) as conn:
        for number in range(tables):
            conn.create_table(f"fluss.t{number}", "id BIGINT", buckets=10).append([{"id": i} for i in range(50)])


async def _measure(rounds: int, tables: int) -> None:
    with tempfile.TemporaryDirectory(prefix="lakeward-bench-") as name:
        options = ServerOptions.of({}, [f"data.dir={name}/data", "bind.listeners=FLUSS://localhost:0"])
        node = await start_node(options, Doors.of_this_machine())
        bootstrap = f"{node.addresses[0].host}:{node.addresses[0].port}"
        client = await asyncio.to_thread(RawClient, SimpleNamespace(bootstrap=bootstrap))  # type: ignore[arg-type]
        table_id = await asyncio.to_thread(create, client)
        counting = _counting_s(node)
        print(f"counting alone: {counting * 1e6:.2f} µs of CPU an append")
        for rows in _ROWS:
            with_it, without = await _compare(node, append_frame(table_id, rows), rounds)
            print(
                f"append of {rows:>5,} rows: {with_it * 1e6:7.1f} µs of CPU, {without * 1e6:7.1f} µs without metrics:"
                f" {100 * (with_it / without - 1):+.2f} %"
            )
            print(f"  what is counted for it, alone: {100 * counting / without:.2f} %")
        client.close()
        if tables:
            await asyncio.to_thread(_fill, bootstrap, tables)
            for _ in range(3):
                longest, spent, lines = await _longest_hold_s(bootstrap)
                print(
                    f"scrape of {tables:,} tables with 10 buckets each: {lines:,} lines in {spent * 1e3:.0f} ms; the"
                    f" loop was held for at most {longest * 1e3:.1f} ms"
                )
                await asyncio.sleep(1)
        await node.stop()


def main() -> None:
    """Run, print."""
    parser = argparse.ArgumentParser(prog="bench.server.metrics", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="of 100 appends each, with and without (default 200)")
    parser.add_argument("--tables", type=int, default=1000, help="that are scraped; 0 for none (default 1,000)")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_measure(arguments.rounds, arguments.tables))


if __name__ == "__main__":
    main()
