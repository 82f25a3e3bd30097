"""Others at the same work: what a user would pick instead. Each says whether it is here, and measures its works."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from bench import apache_fluss
from bench.scale.bed import Bed, made_bed
from bench.scale.crowd import crowd
from bench.scale.kafka_peer import Kafka
from bench.scale.kept import Figure, percentiles, rounded
from bench.scale.shapes import Axis, Shape
from bench.scale.works import WORKS
from bench.union.work import LOG_SQL, cold_files

Found = Iterator[tuple[str, Figure]]


class ApacheFluss:
    """A real cluster on loopback, by the same client."""

    def available(self) -> bool:
        """Whether Java and Maven are here."""
        return apache_fluss.available()

    def measure(self, axis: Axis, shape: Shape) -> Found:
        """Appends, scans, upserts and lookups, of a JVM that has warmed up a little."""
        settings = {"max.bucket.num": "100000", "max.partition.num": "100000"}
        with made_bed(apache_fluss.start(settings=settings), shape, ours=False) as bed:
            if "crowd" in axis.works:
                yield from crowd(bed).items()
                return
            for work in ("append", "scan", "upsert", "lookup"):
                yield work, WORKS[work](bed)


class DuckDb:
    """DuckDB on the Parquet files of the lake alone: what a union query adds to."""

    def available(self) -> bool:
        """It is one of our own parts."""
        return True

    def measure(self, axis: Axis, shape: Shape) -> Found:  # noqa: ARG002 - as others do
        """It is measured beside a union query, on its files."""
        yield from ()

    def beside(self, bed: Bed) -> Figure:
        """The same question to the cold files alone, which DuckDB is told."""
        ask = cold_files(bed.lake.files(bed.log), LOG_SQL)
        times = []
        for _ in range(10):
            begun = time.perf_counter()
            ask()
            times.append((time.perf_counter() - begun) * 1000)
        return rounded({"s": times[-1] / 1000}) | percentiles(times[1:])


PEERS: dict[str, Any] = {"fluss": ApacheFluss(), "kafka": Kafka(), "duckdb": DuckDb()}
