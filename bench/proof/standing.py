"""The standing lines of docs/benchmarks*.md that compare with others, at small sizes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bench.report import Line

Tell = Callable[[str, Any], None]


def _tell_all(tell: Tell, lines: Iterable[Line]) -> None:
    for line in lines:
        if line.ratio is None or not math.isfinite(line.limit):
            continue
        said = {"work": line.work, "ours": line.ours, "theirs": f"beside it {line.theirs}", "ratio": line.ratio}
        tell("line", said | {"limit": line.limit, "at_least": line.at_least})


def beside_fluss(tell: Tell) -> None:
    """Appends, scans, upserts and latencies, beside Apache Fluss where Java and Maven are."""
    from bench import __main__ as bench
    from bench import apache_fluss
    from bench.targets import lakeward, warm_memory

    warm_memory(2000)
    starts: dict[str, Callable[[], Any]] = {"Lakeward": lakeward}
    if apache_fluss.available():
        starts["Apache Fluss"] = apache_fluss.start
    figures: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in starts}
    for name, start in starts.items():
        target = start()
        try:
            bench._measure(target, figures[name], 1_000_000, is_ours=name == "Lakeward")
            bench._measure_kv(target, figures[name], 100_000, is_ours=name == "Lakeward")
        finally:
            target.stop()
    _tell_all(tell, [*bench._lines(figures), *bench._kv_lines(figures)])


def beside_spark(tell: Tell) -> None:
    """Reads, writes and lookups in Spark, beside Parquet."""
    from bench.spark import __main__ as spark
    from bench.spark import work
    from bench.targets import lakeward

    target = lakeward()
    try:
        _tell_all(tell, spark._lines(work.measure(target, 1_000_000, 1)))
    finally:
        target.stop()


def beside_kafka(tell: Tell) -> None:
    """A topic into a log table, beside Spark's own source."""
    import tempfile

    import lakeward as lw
    from bench.ingest import kafka
    from bench.targets import lakeward

    rows = 200_000
    target = lakeward()
    with tempfile.TemporaryDirectory(prefix="kafka-bench-") as place:
        broker = kafka.RealBroker(Path(place) / "broker")
        try:
            broker.create("events", kafka._PARTITIONS)
            kafka._fill(broker, rows)
            spark = lw.spark.session(
                target.bootstrap,
                master="local[2]",
                **{"spark.jars": ",".join(kafka.spark_jars()), "spark.ui.enabled": "false"},
            )
            ours, theirs = kafka._measure(spark, target.bootstrap, broker.bootstrap, rows, 1)
            spark.stop()
        finally:
            broker.stop()
            target.stop()
    work = "topic → log table, JSON of 200 bytes, availableNow; beside it Spark's own source"
    line = Line(work, f"{ours / 1e3:.0f} krow/s", f"{theirs / 1e3:.0f} krow/s", "≥ 1.0 ×", ours / theirs, 1.0)
    _tell_all(tell, [line])
