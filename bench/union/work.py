"""Union reads beside plain reads of the same files: tables that are mostly cold, tiered by rounds in this process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import lakeward
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.targets import Target
from lakeward.client.admin.lake import TieringRound
from lakeward.query.duckdb.duck_session import duck_cursor
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import LakeSplit
from lakeward.query.request.request import ReadRequest
from lakeward.runtime.clock import SystemClock
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.round import RoundContext, RoundReport, run_round
from lakeward.tiering.round.runner import LocalRunner

KEYED = pa.schema(
    [pa.field("id", pa.int64(), nullable=False), ("a", pa.int64()), ("b", pa.float64()), ("c", pa.string())]
)
#: A freshness that no round waits for: rounds are run by hand.
TIERED = {"table.datalake.enabled": "true", "table.datalake.freshness": "1d"}
LOG_SQL = "SELECT count(*) AS n, sum(amount) AS s FROM {}"
KEYED_READS = (
    ("every column", "SELECT count(*) AS n, max(id) AS i, sum(a) AS a, sum(b) AS b, max(c) AS c FROM {}"),
    ("count and sum", "SELECT count(*) AS n, sum(a) AS s FROM {}"),
)
_UPSERT_ROWS = 500_000

Table = lakeward.Table


class Lake:
    """A connection that knows a warehouse, and rounds into it, with tasks on threads."""

    def __init__(self, target: Target, warehouse: Path) -> None:
        self.bootstrap = target.bootstrap
        self.warehouse = str(warehouse)
        self.conn = lakeward.connect(target.bootstrap, lake={"warehouse": self.warehouse})
        clock = SystemClock()
        self._context = RoundContext(
            self.conn,
            LakeCatalogs({"warehouse": self.warehouse}),
            LocalRunner(lambda _: self.conn, clock),
            clock,
            target.bootstrap,
            {},
        )

    def round(self, table: Table) -> RoundReport:
        """One round of a table."""
        return run_round(self._context, TieringRound(table.info.table_id, table.path, 0, 0))

    def files(self, table: Table) -> list[str]:
        """The lake's files of a table, which must not have deletes: whoever reads them reads its cold rows."""
        request = ReadRequest(
            table.path, options={"scan.tiers": "lake", "lake.warehouse": self.warehouse}, parallelism=1
        )
        splits = plan_read(self.conn, request).splits
        found = [f for s in splits if isinstance(s, LakeSplit) for f in s.files]
        assert not any(f.deletes for f in found)
        return [f.path.removeprefix("file://") for f in found]


@contextmanager
def lake_on(target: Target) -> Iterator[Lake]:
    """A warehouse of its own."""
    with tempfile.TemporaryDirectory(prefix="lakeward-bench-lake-") as directory:
        lake = Lake(target, Path(directory))
        try:
            yield lake
        finally:
            lake.conn.close()


# -- tables -----------------------------------------------------------------------------------------------------------


def log_table(lake: Lake, rows: int, lake_format: str = "iceberg") -> Table:
    """A log table, nine of ten rows in the lake."""
    properties = {**TIERED, "table.datalake.format": lake_format}
    table = lake.conn.create_table(f"fluss.union_log_{lake_format}", SCHEMA, buckets=2, properties=properties)
    every = batches(rows // BATCH_ROWS)
    cold = len(every) * 9 // 10
    table.append(every[:cold])
    lake.round(table)
    table.append(every[cold:])
    return table


def keyed_table(lake: Lake, keys: int, changes: int, lake_format: str = "iceberg") -> Table:
    """A primary key table, all keys in the lake, some of them changed since, anywhere among them."""
    properties = {**TIERED, "table.datalake.format": lake_format}
    table = lake.conn.create_table(
        f"fluss.union_keyed_{lake_format}", KEYED, primary_key=["id"], buckets=4, properties=properties
    )
    for first in range(0, keys, _UPSERT_ROWS):
        table.upsert(_rows(np.arange(first, min(first + _UPSERT_ROWS, keys)), 0))
    lake.round(table)
    random = np.random.default_rng(1)
    table.upsert(_rows(random.choice(keys, changes, replace=False), 1))
    return table


def _rows(ids: Any, number: int) -> pa.Table:
    text = pa.array(ids).cast(pa.string())
    return pa.table([pa.array(ids), pa.array(ids + number), pa.array(ids * 0.5), text], schema=KEYED)


# -- reads ------------------------------------------------------------------------------------------------------------


def side_by_side(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Seconds of each, medians; they take turns, and the first turn is not counted."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for run, seconds in zip((ours, theirs), times, strict=True):
            begun = time.perf_counter()
            run()
            if number:
                seconds.append(time.perf_counter() - begun)
    return statistics.median(times[0]), statistics.median(times[1])


def union(table: Table, sql: str) -> Callable[[], tuple[Any, ...]]:
    """Both halves, planned and read."""
    return lambda: tuple(table.query(sql.format("t")).to_pylist()[0].values())


def cold_files(files: list[str], sql: str) -> Callable[[], tuple[Any, ...]]:
    """DuckDB over the cold files alone, as it would be told of them; open already, and set as it is for union reads."""
    listed = ", ".join(f"'{path}'" for path in files)

    def run() -> tuple[Any, ...]:
        with duck_cursor() as duck:
            found = duck.execute(sql.format(f"read_parquet([{listed}])")).fetchone()
            assert found is not None
            return tuple(found)

    return run


def first_answer_s(lake: Lake, table: Table, sql: str) -> tuple[float, float]:
    """A process of its own: seconds from connect to its first answer, and seconds from its start to its end."""
    code = (
        "import sys, time, lakeward\n"
        "with lakeward.connect(sys.argv[1], lake={'warehouse': sys.argv[2]}) as conn:\n"
        "    begun = time.perf_counter()\n"
        "    conn.table(sys.argv[3]).query(sys.argv[4]).to_pylist()\n"
        "    print(time.perf_counter() - begun)\n"
    )
    command = [sys.executable, "-c", code, lake.bootstrap, lake.warehouse, str(table.path), sql.format("t")]
    begun = time.perf_counter()
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(told), time.perf_counter() - begun
