"""`lakeward run` of a streaming INSERT beside the same job written by hand with DataFrames, in turns.

python -m bench.sql.script_work by-hand BOOTSTRAP SOURCE SINK CHECKPOINT    the job by hand, until it is stopped
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

import lakeward
import lakeward.spark
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.targets import Target
from lakeward.client.blocking.sync import Connection
from lakeward.runtime.process.child import Child

_SOURCE = "fluss.script_rows"
_BATCH = 100_000
#: The rate is that of the rows after these: before them Java warms up.
_WARM = 0.4
_END_S = 600
_SETTINGS = {"spark.ui.enabled": "false", "spark.driver.memory": "2g"}
_COLUMNS = (
    "id BIGINT, user_id BIGINT, amount DOUBLE, quantity INT, flag INT, created TIMESTAMP(6), score DOUBLE, "
    "name STRING, city STRING, note STRING"
)
_SELECTED = "id, user_id, amount * 2 AS amount, quantity, flag, created, score, upper(name) AS name, city, note"


@dataclass(frozen=True, slots=True)
class ScriptFigures:
    """Rows a second and rows a CPU second, a round each. The second holds on a busy machine, too."""

    run: list[tuple[float, float]]
    by_hand: list[tuple[float, float]]

    @property
    def ratio(self) -> float:
        """The script's rate in that of the job by hand, by their medians."""
        return self._ratio(0)

    @property
    def cpu_ratio(self) -> float:
        """The same by rows a CPU second."""
        return self._ratio(1)

    def _ratio(self, which: int) -> float:
        run, by_hand = (statistics.median(rates[which] for rates in side) for side in (self.run, self.by_hand))
        return run / by_hand


def measure(target: Target, rows: int, rounds: int) -> ScriptFigures:
    """Drain a table of so many rows in micro-batches of 100,000, by one and by the other, in turns."""
    directory = Path(tempfile.mkdtemp(prefix="lakeward-bench-script-"))
    figures = ScriptFigures([], [])
    try:
        with lakeward.connect(target.bootstrap) as connection:
            connection.create_table(_SOURCE, SCHEMA, buckets=2).append(batches(rows // BATCH_ROWS))
            for number in range(2 * rounds):
                sink = f"script_copy_{number}"
                connection.create_table(f"fluss.{sink}", SCHEMA, buckets=2)
                is_run = number % 4 in {0, 3}  # A B B A: whoever comes second has no advantage
                command = _run(target, sink, directory) if is_run else _by_hand(target, sink, directory)
                rate = _rate(connection, sink, command, rows, directory)
                (figures.run if is_run else figures.by_hand).append(rate)
                told = f"{rate[0]:12,.0f} rows/s  {rate[1]:12,.0f} rows/CPU s"
                print(f"  {'lakeward run' if is_run else 'by hand':12}  {told}", flush=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return figures


def _run(target: Target, sink: str, directory: Path) -> list[str]:
    script = directory / f"{sink}.sql"
    script.write_text(
        f"CREATE TABLE rows_in ({_COLUMNS}) WITH ('connector' = 'fluss', 'table.name' = '{_SOURCE}');\n"
        f"CREATE TABLE rows_out ({_COLUMNS}) WITH ('connector' = 'fluss', 'table.name' = 'fluss.{sink}');\n"
        f"INSERT INTO rows_out SELECT {_SELECTED}\n"
        f"FROM rows_in /*+ OPTIONS('maxRowsPerTrigger' = '{_BATCH}') */;\n"
    )
    settings = [word for key, value in _SETTINGS.items() for word in ("-D", f"{key}={value}")]
    return ["lakeward", "run", str(script), "-s", target.bootstrap, "--master", "local[2]", *settings]


def _by_hand(target: Target, sink: str, directory: Path) -> list[str]:
    return [
        "bench.sql.script_work",
        "by-hand",
        target.bootstrap,
        _SOURCE,
        f"fluss.{sink}",
        str(directory / f"{sink}.c"),
    ]


def _rate(connection: Connection, sink: str, command: list[str], rows: int, directory: Path) -> tuple[float, float]:
    table = connection.table(f"fluss.{sink}")
    environment = {**os.environ, "LAKEWARD_STATE": str(directory / "state")}
    with (directory / "log").open("a") as log:
        process = Child([sys.executable, "-m", *command], stdout=log, stderr=log, env=environment)
    end_s = time.monotonic() + _END_S
    warm: tuple[float, float, int] | None = None
    try:
        while True:
            seen, now_s = sum(table.offsets("latest").values()), time.monotonic()
            if warm is None and seen >= rows * _WARM:
                warm = now_s, _cpu_s(process.pid), seen
            if seen >= rows and warm is not None:
                return (seen - warm[2]) / (now_s - warm[0]), (seen - warm[2]) / (_cpu_s(process.pid) - warm[1])
            if process.poll() is not None or now_s > end_s:
                raise SystemExit(f"{command} did not get to its end:\n{(directory / 'log').read_text()[-3000:]}")
            time.sleep(0.02)
    finally:
        process.stop(30)


def _cpu_s(pid: int) -> float:
    """CPU seconds of a process and of all that it started."""
    top = psutil.Process(pid)
    times = [one.cpu_times() for one in (top, *top.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def by_hand(bootstrap: str, source: str, sink: str, checkpoint: str) -> None:
    """The job as one writes it without scripts."""
    spark = lakeward.spark.session(bootstrap, master="local[2]", **_SETTINGS)
    frame = spark.readStream.option("maxRowsPerTrigger", _BATCH).table(f"fluss.{source}")
    query = frame.selectExpr(*_SELECTED.split(", ")).writeStream.option("checkpointLocation", checkpoint)
    query.toTable(f"fluss.{sink}").awaitTermination()


if __name__ == "__main__":
    assert sys.argv[1] == "by-hand"
    by_hand(*sys.argv[2:6])
