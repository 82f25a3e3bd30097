"""The lines as data: work, where it was when the promise was made, what to reach, unit, and who measures it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A function `module:name` that returns figures by key; bounded in time, small enough for one go of all."""

    name: str
    function: str
    seconds: int
    size: str
    needs_java: bool = False


@dataclass(frozen=True)
class Promise:
    """One line: a figure of a measure, and what it is to reach."""

    measure: str
    key: str
    work: str
    today: str
    to_reach: float
    unit: str = "×"
    at_least: bool = False

    def is_kept(self, value: float) -> bool:
        """Whether a figure is good enough."""
        return value >= self.to_reach if self.at_least else value <= self.to_reach


_HERE = "bench.proof.measures"
MEASURES = {
    one.name: one
    for one in (
        Measure("latency", f"{_HERE}:latency", 40, "500 calls of each"),
        Measure("raw", f"{_HERE}:raw", 50, "300 MB, 1 MB batches"),
        Measure("fairness", f"{_HERE}:fairness", 40, "8 s of batches of 50,000 rows"),
        Measure("union", f"{_HERE}:union", 180, "4 M log rows, 5 M keys; full: python -m bench.union"),
        Measure("tpch-duckdb", f"{_HERE}:tpch_duckdb", 250, "Iceberg at factor 1, Paimon at 0.1"),
        Measure("tpch-spark", f"{_HERE}:tpch_spark", 280, "factor 0.1; full: --factor 1 --engine spark"),
        Measure("remote", f"{_HERE}:remote_scans", 140, "4 M rows"),
        Measure("tiering", f"{_HERE}:tiering_round", 150, "4 M rows, tasks on threads"),
        Measure("tier-start", f"{_HERE}:tier_start", 100, "1 M rows"),
        Measure("streaming", f"{_HERE}:streaming", 100, "20,000 rows, two streaming queries"),
        Measure("beside-fluss", "bench.proof.standing:beside_fluss", 180, "1 M rows, 100,000 keys, 1 round"),
        Measure("beside-spark", "bench.proof.standing:beside_spark", 160, "1 M rows, 1 round"),
        Measure("beside-kafka", "bench.proof.standing:beside_kafka", 120, "200,000 rows, 1 round", needs_java=True),
    )
}

_TPCH = "TPC-H, 80 % cold, updates and deletes after it, total of 22 queries against plain"
PROMISES = (
    Promise("tpch-duckdb", "iceberg log", f"{_TPCH} DuckDB on Parquet: Iceberg, log", "1.9–2.3", 1.15),
    Promise("tpch-duckdb", "iceberg key", f"{_TPCH} DuckDB on Parquet: Iceberg, primary key", "6.4", 1.5),
    Promise("tpch-duckdb", "paimon log", f"{_TPCH} DuckDB on Parquet: Paimon, log", "3.3", 1.5),
    Promise("tpch-duckdb", "paimon key", f"{_TPCH} DuckDB on Parquet: Paimon, primary key", "12–13", 2.0),
    Promise("tpch-spark", "log", f"{_TPCH} Spark on Parquet: log", "1.00", 1.0),
    Promise("tpch-spark", "key", f"{_TPCH} Spark on Parquet: primary key", "1.85", 1.2),
    Promise("union", "keyed", "primary key union, 100 k keys changed: count and sum, against cold files", "4.4", 1.5),
    Promise("union", "first", "first answer of a new process, after connect", "1.0", 0.5, "s"),
    Promise("union", "process", "the same, the whole process with import", "1.6", 1.0, "s"),
    Promise("latency", "append", "one row appended with our blocking client, p50", "0.75", 0.4, "ms"),
    Promise("latency", "lookup", "one lookup, p50", "0.44", 0.3, "ms"),
    Promise("raw", "append", "raw append, 1 MB batches, share of the loopback's rate", "0.32", 0.5, at_least=True),
    Promise("raw", "fetch", "raw fetch, 1 MB batches, share of the loopback's rate", "0.61", 0.65, at_least=True),
    Promise("remote", "directory", "remote, 2 of 10 columns, directory, against local", "0.46", 0.8, at_least=True),
    Promise("remote", "seaweed", "remote, 2 of 10 columns, SeaweedFS, against local", "0.21", 0.5, at_least=True),
    Promise("tiering", "quiet", "log table into Iceberg, against pyarrow's Parquet writer", "0.82", 0.8, at_least=True),
    Promise("tiering", "busy", "the same, both beside other work", "0.23", 0.8, at_least=True),
    Promise("tier-start", "spark", "`lakeward tier` from start to first commit, with Spark", "17–24", 12.0, "s"),
    Promise("tier-start", "local", "`lakeward tier --engine local` from start to first commit", "–", 3.0, "s"),
    Promise("fairness", "p99", "a pinger's p99 while batches of 50,000 rows are filled in", "≤ 1000", 20.0, "ms"),
    # Two of ten are 0.2; what is said of each batch, and one batch that is looked at whole, come on top.
    Promise("streaming", "bytes", "Spark streaming scan of 2 in 10 columns: bytes sent, against all 10", "1.0", 0.25),
)
