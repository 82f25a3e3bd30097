"""kill -9 of `lakeward run` with four jobs: no row is missing, and none is there twice."""

from __future__ import annotations

import os
import random
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_process import Cli
from eventually import eventually
from script_runs import FAST
from server_process import ServerProcess

import lakeward as lw
from lakeward.runtime.process.child import Child

ROUNDS = int(os.environ.get("RUN_KILL_ROUNDS", "1"))
SEED = int(os.environ.get("CRASH_SEED", str(random.SystemRandom().randrange(10**6))))
KEYS = 7
TICKS = 600 * (ROUNDS + 1)  # there are some left in the last run
_ATTEMPTS = 5
#: What Spark says when a Python process has not come up within ten seconds: the machine is busy.
_TOO_BUSY = "failed to connect back"
_TABLE = "CREATE TABLE {0} ({1}) WITH ('connector' = 'fluss', 'table.name' = 'kills.{0}'{2});\n"
SCRIPT = (
    _TABLE.format("events", "id BIGINT, k BIGINT", ", 'bucket.num' = '2'")
    + _TABLE.format("copies", "id BIGINT, k BIGINT", "")
    + _TABLE.format("evens", "id BIGINT", "")
    + _TABLE.format("odds", "id BIGINT", "")
    + _TABLE.format("totals", "k BIGINT, c BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED", "")
    + _TABLE.format("ticked", "id BIGINT", "")
    + f"""
    CREATE TABLE ticks (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '100',
        'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{TICKS - 1}');
    SET 'execution.runtime-mode' = 'streaming';
    SET 'pipeline.name' = 'ticks';
    INSERT INTO ticked SELECT id FROM ticks;
    RESET 'pipeline.name';

    INSERT INTO copies SELECT id, k FROM events;

    EXECUTE STATEMENT SET BEGIN
      INSERT INTO evens SELECT id FROM events WHERE id % 2 = 0;
      INSERT INTO odds SELECT id FROM events WHERE id % 2 = 1;
    END;

    SET 'pipeline.name' = 'totals by key';
    INSERT INTO totals SELECT k, COUNT(*), SUM(id) FROM events GROUP BY k;
    """
)

pytestmark = [pytest.mark.crash, pytest.mark.slow, pytest.mark.timeout(3600), pytest.mark.usefixtures("forked_pythons")]


class Writer:
    """Appends rows until it is told to stop, so that there is always something under way."""

    def __init__(self, conn: lw.Connection) -> None:
        self._table = conn.table("kills.events")
        self.rows = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def stop(self) -> None:
        """No more rows."""
        self._is_over.set()
        self._thread.join()

    def _write(self) -> None:
        while not self._is_over.wait(0.1):
            self._table.append([{"id": i, "k": i % KEYS} for i in range(self.rows, self.rows + 20)])
            self.rows += 20


def _values(conn: lw.Connection, table: str) -> list[tuple[Any, ...]]:
    opened = conn.table(f"kills.{table}")
    rows = opened.snapshot() if table == "totals" else opened.scan().to_arrow()
    return sorted(tuple(row.values()) for row in rows.to_pylist())


def _wanted(rows: int) -> dict[str, list[tuple[Any, ...]]]:
    """What the tables must hold of so many events."""
    counts, sums = Counter(i % KEYS for i in range(rows)), Counter[int]()
    for i in range(rows):
        sums[i % KEYS] += i
    return {
        "ticked": [(i,) for i in range(TICKS)],
        "copies": [(i, i % KEYS) for i in range(rows)],
        "evens": [(i,) for i in range(0, rows, 2)],
        "odds": [(i,) for i in range(1, rows, 2)],
        "totals": sorted((k, counts[k], sums[k]) for k in counts),
    }


def _read_until(process: Child, holds: Callable[[str], bool]) -> None:
    assert process.stderr is not None
    said = ""
    while not holds(said) and _TOO_BUSY not in said:
        line = process.stderr.readline()
        assert line, f"seed {SEED}: it ended by itself:\n{said}"
        said += line


def test_a_script_that_is_killed_goes_on_exactly_once(
    new_server: Callable[..., ServerProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While Spark starts, while jobs begin, in the middle of batches; every total is exact in the end."""
    chance = random.Random(SEED)
    server = new_server()
    monkeypatch.setenv("LAKEWARD_STATE", str(tmp_path / "state"))
    (tmp_path / "jobs.sql").write_text(SCRIPT)
    cli = Cli(server.bootstrap, tmp_path)
    with lw.connect(server.bootstrap) as conn:
        conn.create_database("kills")
        conn.create_table("kills.events", "id BIGINT, k BIGINT", buckets=2)
        writer = Writer(conn)
        try:
            for kill in range(ROUNDS):
                process = cli.start("run", "jobs.sql", *FAST)
                if kill % 4 == 3:
                    time.sleep(chance.uniform(0, 20))  # anywhere, before the first job too
                else:
                    _read_until(process, lambda said: re.search(r"totals by key: [1-9]", said) is not None)
                    time.sleep(chance.uniform(0, 3))  # in the middle of a later batch
                process.kill()
                process.communicate()
        finally:
            writer.stop()
        wanted = _wanted(writer.rows)
        for _ in range(_ATTEMPTS):
            process = cli.start("run", "jobs.sql", *FAST)
            threading.Thread(target=process.stderr.read, daemon=True).start()  # type: ignore[union-attr]
            is_through = partial(_is_through, cli, process.pid, conn, wanted)
            assert eventually(is_through, within_s=300), f"seed {SEED}: {_jobs(cli)}"
            if not any(_TOO_BUSY in (job["error"] or "") for job in _jobs(cli).values()):
                break
            process.send_signal(signal.SIGTERM)
            process.wait(120)
        states = {name.partition("-")[0]: job["state"] for name, job in _jobs(cli).items()}
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        for table, rows in wanted.items():
            assert _values(conn, table) == rows, f"seed {SEED}: {table}"
        assert states == {"ticks": "finished", "copies": "running", "evens": "running", "totals by key": "running"}


def _jobs(cli: Cli) -> dict[str, dict[str, Any]]:
    return {job["name"]: job for job in cli.document("jobs", "list")}


def _is_through(cli: Cli, pid: int, conn: lw.Connection, wanted: dict[str, list[tuple[Any, ...]]]) -> bool:
    """Whether all rows are there, or one of the jobs gave up."""
    jobs = _jobs(cli)
    if any((job["state"], job["pid"]) == ("failed", pid) for job in jobs.values()):
        return True
    is_there = all(len(_values(conn, table)) >= len(rows) for table, rows in wanted.items())
    return is_there and _values(conn, "totals") == wanted["totals"] and jobs["ticks"]["state"] == "finished"
