"""What measures the promises: each tells figures by key as they come, at sizes that fit into half an hour."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import lakeward as lw
from bench.targets import Target, lakeward, warm_memory

Tell = Callable[[str, float], None]


@contextmanager
def _server(options: tuple[str, ...] = ()) -> Iterator[Target]:
    target = lakeward(options)
    try:
        yield target
    finally:
        target.stop()


def latency(tell: Tell) -> None:
    """One row, and one key, with the blocking client."""
    with _server() as target, lw.connect(target.bootstrap) as conn:
        log = conn.create_table("fluss.proof_log", "id BIGINT, text STRING", buckets=1)
        tell("append", _p50_ms(lambda i: log.append([{"id": i, "text": "row"}])))
        keyed = conn.create_table("fluss.proof_keyed", "id BIGINT, text STRING", primary_key=["id"], buckets=2)
        keyed.upsert([{"id": i, "text": "row"} for i in range(10_000)])
        tell("lookup", _p50_ms(keyed.lookup))


def _p50_ms(work: Callable[[int], Any], count: int = 500) -> float:
    times = []
    for number in range(count + 50):
        begun = time.perf_counter()
        work(number)
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times[50:])


def raw(tell: Tell) -> None:
    """Shares of the loopback's rate; the middle of three, since one alone differs by a third."""
    from bench.server.raw_work import measure

    warm_memory()
    with _server() as target:
        measure(target, 100)
        found = [measure(target) for _ in range(3)]
    tell("append", statistics.median(one for one, _ in found))
    tell("fetch", statistics.median(one for _, one in found))


def fairness(tell: Tell) -> None:
    """A pinger beside two writers of large batches."""
    from bench.server.fairness import _ping, _share, attacks

    with _server() as target:
        attacks.prepare(target.bootstrap)
        stop, found = multiprocessing.Event(), multiprocessing.Queue()
        pinger = multiprocessing.Process(target=_ping, args=(target.bootstrap, stop, found))
        writers = [multiprocessing.Process(target=_write_large, args=(target.bootstrap, i)) for i in range(2)]
        for process in (*writers, pinger):
            process.start()
        time.sleep(8)
        stop.set()
        pings, _ = found.get(timeout=30)
        for process in (*writers, pinger):
            process.kill()
        tell("p99", _share(pings, 0.99))


def _write_large(bootstrap: str, number: int) -> None:
    from bench.rows import SCHEMA, batches

    with lw.connect(bootstrap) as conn:
        table = conn.create_table(f"fluss.proof_large_{number}", SCHEMA, buckets=2)
        while True:
            table.append(batches(8))


def union(tell: Tell) -> None:
    """A table by key that is mostly cold; the first answer of a new process."""
    from bench.union import work

    with _server() as target, work.lake_on(target) as lake:
        log = work.log_table(lake, 4_000_000)
        told = [work.first_answer_s(lake, log, work.LOG_SQL) for _ in range(3)]
        tell("first", statistics.median(first for first, _ in told))
        tell("process", statistics.median(whole for _, whole in told))
        keyed = work.keyed_table(lake, 5_000_000, 100_000)
        sql = dict(work.KEYED_READS)["count and sum"]
        ours, cold = work.side_by_side(work.union(keyed, sql), work.cold_files(lake.files(keyed), sql), 5)
        tell("keyed", ours / cold)


def tpch_duckdb(tell: Tell) -> None:
    """All 22 queries over four kinds of tables, at the factors that were promised."""
    for lake_format, factor in (("iceberg", 1), ("paimon", 0.1)):
        for kind in ("log", "key"):
            tell(f"{lake_format} {kind}", _tpch(factor, lake_format, kind, "duckdb", 3))


def tpch_spark(tell: Tell) -> None:
    """The same in Spark."""
    for kind in ("log", "key"):
        tell(kind, _tpch(0.1, "iceberg", kind, "spark", 1))


def _tpch(factor: float, lake_format: str, kind: str, engine: str, rounds: int) -> float:
    from bench.tpch.__main__ import report
    from bench.tpch.data import loaded
    from bench.tpch.sides import ENGINES

    with loaded(factor, lake_format, kind) as tables, ENGINES[engine](tables) as sides:
        return report(tables, sides, rounds)


def remote_scans(tell: Tell) -> None:
    """Two of ten columns of remote history, against the server's own disk."""
    from bench.remote.place import places
    from bench.remote.scans import lines

    with places() as found:
        for place, key in zip(found, ("directory", "seaweed"), strict=True):
            for line in lines([place.at("proof")]):
                if "2 of 10" in line.work and line.ratio is not None:
                    tell(key, line.ratio)


def tiering_round(tell: Tell) -> None:
    """One round of a log table with tasks on threads, against pyarrow's Parquet writer; alone, then beside others."""
    from bench.lake.tiering_work import parquet_rate
    from bench.rows import BATCH_ROWS, SCHEMA, batches
    from bench.union import work

    rows = 4_000_000
    with _server() as target, work.lake_on(target) as lake:

        def ratio(name: str, count: int) -> float:
            properties = {**work.TIERED, "table.datalake.format": "iceberg"}
            table = lake.conn.create_table(f"fluss.proof_{name}", SCHEMA, buckets=2, properties=properties)
            table.append(batches(count // BATCH_ROWS))
            begun = time.perf_counter()
            lake.round(table)
            rate = count / (time.perf_counter() - begun)
            lake.conn.drop_table(str(table.path))
            return rate / parquet_rate(count)

        ratio("warm", 200_000)
        for key, beside in (("quiet", 0), ("busy", 2)):
            others = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(beside)]
            for process in others:
                process.start()
            tell(key, statistics.median(ratio(f"{key}_{turn}", rows) for turn in range(3)))
            for process in others:
                process.kill()


def _spin() -> None:
    while True:
        sum(range(100_000))


def tier_start(tell: Tell) -> None:
    """The command, until the lake has its first snapshot."""
    from bench.lake import tiering_work as work

    for engine in ("local", "spark"):
        with _server() as target:
            tell(engine, work.first_commit_s(target, 1_000_000, engine))


def streaming(tell: Tell) -> None:
    """Bytes that the server sends to a stream of two columns, against those to a stream of all ten."""
    from bench.spark.streaming import bytes_share

    with _server() as target:
        tell("bytes", bytes_share(target))
