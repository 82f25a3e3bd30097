"""Staged writes as an engine would do them: rows divided over tasks, parts committed under a batch id.

Run as a program it commits once and kills itself at a named step, as a power cut would.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from forked import Forked

import lakeward
from lakeward.client.blocking.sync import Connection
from lakeward.client.staged import CommitResult, StagedSink, StagedWriter
from lakeward.model.data_types import BIGINT
from lakeward.model.schema import Aggregate, Column

#: Small batches, so that a few thousand rows make many of them.
ROWS = 1500
SMALL_BATCHES = {"writer_batch_size": "512b"}


class PowerCutError(Exception):
    """The committer ends here."""


class Cut:
    """Ends a commit at the n-th time of a step."""

    def __init__(self, step: str, nth: int = 1) -> None:
        self._step, self._left = step, nth

    def __call__(self, step: str) -> None:
        """Hear of a step."""
        if step == self._step:
            self._left -= 1
            if self._left == 0:
                self.cut()

    def cut(self) -> None:
        """End it."""
        raise PowerCutError


class Kill(Cut):
    """The same with SIGKILL."""

    def cut(self) -> None:
        """Nothing is cleaned up."""
        os.kill(os.getpid(), signal.SIGKILL)


def log_table(conn: Connection, path: str, buckets: int = 3, **more: Any) -> lakeward.Table:
    """Rows `id`, `batch`."""
    return conn.create_table(path, "id BIGINT, batch INT", buckets=buckets, **more)


def sum_table(conn: Connection, path: str, buckets: int = 3) -> lakeward.Table:
    """A key and a sum: a row that is put twice shows."""
    total = Column("total", BIGINT(), aggregate=Aggregate("sum"))
    columns = [Column("id", BIGINT()), total]
    properties = {"table.merge-engine": "aggregation"}
    return conn.create_table(path, columns, primary_key=["id"], buckets=buckets, properties=properties)


def rows_of_batch(kind: str, batch_id: int, count: int = ROWS) -> pa.Table:
    """The rows of a micro-batch: always the same ones."""
    if kind == "log":
        ids = range(batch_id * count, (batch_id + 1) * count)
        return pa.table({"id": pa.array(ids, pa.int64()), "batch": pa.array([batch_id] * count, pa.int32())})
    keys = [i % 50 for i in range(count)]
    return pa.table({"id": pa.array(keys, pa.int64()), "total": pa.array([10**batch_id] * count, pa.int64())})


def staged(
    conn: Connection,
    path: str,
    rows: pa.Table,
    staging: str,
    *,
    seed: int = 0,
    inline_bytes: int = 1 << 20,
    **more: Any,
) -> list[bytes]:
    """The rows shuffled and divided over two to four tasks, never the same way for two seeds."""
    dice = random.Random(seed)
    order = list(range(rows.num_rows))
    dice.shuffle(order)
    shuffled = rows.take(pa.array(order, pa.int64()))
    cuts = sorted(dice.sample(range(rows.num_rows + 1), dice.randint(1, 3)))
    bounds = [0, *cuts, rows.num_rows]
    parts = []
    for start, end in itertools.pairwise(bounds):
        writer = StagedWriter(conn, path, staging=staging, inline_bytes=inline_bytes, **more)
        for at in range(start, end, 40):
            writer.write(shuffled.slice(at, min(40, end - at)))
        parts.append(writer.finish())
    return parts


def run_batch(
    conn: Connection, path: str, directory: str, kind: str, batch_id: int, *, seed: int = 0, tell: Any = None
) -> CommitResult:
    """Stage and commit a micro-batch. Odd seeds stage into files, even ones inline."""
    inline_bytes = 0 if seed % 2 else 1 << 20
    rows = rows_of_batch(kind, batch_id)
    parts = staged(conn, path, rows, directory, seed=seed, inline_bytes=inline_bytes, batch_id=batch_id)
    return StagedSink(conn, path, directory, tell=tell).commit(batch_id, parts)


def check(table: lakeward.Table, kind: str, batches: int) -> None:
    """No row is missing and none is there twice."""
    if kind == "log":
        found = sorted(table.scan().to_arrow()["id"].to_pylist())
        wanted = [i for b in range(batches) for i in rows_of_batch(kind, b)["id"].to_pylist()]
        assert found == wanted, f"{len(found)} rows, {len(set(found))} different, {len(wanted)} written"
        return
    found = {row["id"]: row["total"] for row in table.snapshot().to_pylist()}
    total = sum(rows_of_batch(kind, b)["total"][0].as_py() for b in range(batches)) * ROWS // 50
    assert found == dict.fromkeys(range(50), total)


def killed(bootstrap: str, path: str, directory: Path, kind: str, batch_id: int, seed: int, step: str, nth: int) -> int:
    """Run a commit in a process that kills itself; its exit code."""
    told = json.dumps([bootstrap, path, str(directory), kind, batch_id, seed, step, nth])
    here = Path(__file__)
    return Forked([sys.executable, "-m", here.stem, told], cwd=here.parent).wait(100)


def _main() -> None:
    bootstrap, path, directory, kind, batch_id, seed, step, nth = json.loads(sys.argv[1])
    with lakeward.connect(bootstrap, **SMALL_BATCHES) as conn:
        run_batch(conn, path, directory, kind, batch_id, seed=seed, tell=Kill(step, nth))


if __name__ == "__main__":
    _main()
