"""A wrong number is never printed: queries on streams against a plain model, under random changes and restarts."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from server_process import ServerProcess
from truth_model import CASES, START, TruthModel, random_order, random_user

import lakeward as lw
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.jobs import Jobs
from lakeward.spark.scripts.script import Script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)
_TABLES = """
    CREATE TABLE orders (
        id BIGINT, user_id BIGINT, g STRING, v INT, at TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED,
        WATERMARK FOR at AS at - INTERVAL '1' HOUR
    ) WITH ('bucket.num' = '2');
    CREATE TABLE users (id BIGINT, city STRING, lvl INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket.num' = '2');
    CREATE TABLE clicks (user_id BIGINT, url STRING, v INT) WITH ('bucket.num' = '2');
"""


class Truth:
    """Tables on a server, jobs that read them, and the model of both."""

    def __init__(self, new_script: Callable[[], Script], conn: lw.Connection, database: str) -> None:
        self.model = TruthModel()
        self._new_script = new_script
        self._conn = conn
        self._database = database
        self._script = new_script()
        self._script.run(_TABLES)
        for name, (columns, _, _) in CASES.items():
            self._script.run(f"CREATE TABLE {name}_sink ({columns} NOT ENFORCED) WITH ('bucket.num' = '1')")

    def start(self) -> None:
        """Start every query, from its checkpoint if it has one."""
        for name, (_, query, _) in CASES.items():
            self._script.run(f"INSERT INTO {name}_sink {query}")

    def start_again(self) -> None:
        """Stop all jobs, and start them in another script."""
        self._script.jobs.stop()
        self._script = self._new_script()
        self.start()

    def stop(self) -> None:
        """Stop all jobs."""
        self._script.jobs.stop()

    def table(self, name: str) -> Any:
        """A table, to be changed."""
        return self._conn.table(f"{self._database}.{name}")

    def change(self, draw: random.Random) -> None:
        """Some random changes, several of the same key among them."""
        model = self.model
        for _ in range(draw.randrange(1, 4)):
            rows = [random_order(draw, draw.randrange(12)) for _ in range(draw.randrange(1, 6))]
            self.table("orders").upsert(rows)
            model.orders |= {row["id"]: row for row in rows}
            gone = draw.sample(range(12), 2)
            self.table("orders").delete([{"id": number} for number in gone])
            model.orders = {number: row for number, row in model.orders.items() if number not in gone}
        users = [random_user(draw, draw.randrange(1, 5)) for _ in range(2)]
        self.table("users").upsert(users)
        model.users |= {row["id"]: row for row in users}
        lost = draw.randrange(1, 5)
        self.table("users").delete([{"id": lost}])
        model.users.pop(lost, None)
        clicks = [
            {"user_id": draw.randrange(1, 6), "url": draw.choice("abe"), "v": draw.randrange(9)} for _ in range(2)
        ]
        self.table("clicks").append(clicks)
        model.clicks += clicks

    def check(self, spark: SparkSession, seed: int) -> None:
        """Wait until all is read; then every sink has the rows of the model."""
        for query in spark.streams.active:
            query.processAllAvailable()
        for name, (_, _, expected) in CASES.items():
            rows = self._conn.sql(f"SELECT * FROM {self._database}.{name}_sink").to_pylist()
            found = sorted((tuple(row.values()) for row in rows), key=repr)
            assert found == sorted(expected(self.model), key=repr), (name, seed, self.model)


@pytest.fixture
def new_script(spark: SparkSession, server: ServerProcess, database: str, tmp_path: Path) -> Callable[[], Script]:
    """A script that knows the tables of the test's database; all have the same home for their jobs."""

    def make() -> Script:
        script = Script(spark, server=server.bootstrap, jobs=Jobs(JobHome(tmp_path)))
        script.run(f"USE {database}")
        return script

    return make


def test_sinks_have_the_rows_of_the_model(
    spark: SparkSession, new_script: Callable[[], Script], conn: lw.Connection, database: str
) -> None:
    """Inserts, updates of every column, deletes, NULLs, several rows of a key in a batch; jobs that go on later."""
    seed = random.SystemRandom().randrange(1 << 30)
    draw = random.Random(seed)
    truth = Truth(new_script, conn, database)
    truth.change(draw)
    truth.start()
    try:
        truth.check(spark, seed)
        truth.stop()
        truth.change(draw)
        truth.start_again()
        truth.change(draw)
        truth.check(spark, seed)
    finally:
        truth.stop()


_SIZE, _GAP = 10, 4
_EVENTS = """
    CREATE TABLE events (u STRING, v INT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '10' SECOND)
    WITH ('bucket.num' = '1');
    CREATE TABLE final (s TIMESTAMP(3), u STRING, n BIGINT, v BIGINT) WITH ('bucket.num' = '1');
    CREATE TABLE now (s TIMESTAMP(3), u STRING, n BIGINT, PRIMARY KEY (s, u) NOT ENFORCED) WITH ('bucket.num' = '1');
    CREATE TABLE sessions (s TIMESTAMP(3), e TIMESTAMP(3), u STRING, n BIGINT) WITH ('bucket.num' = '1');
"""
_WINDOWS = """
    INSERT INTO final SELECT TUMBLE_START(at, INTERVAL '10' SECOND), u, COUNT(*), SUM(v) FROM events
    GROUP BY TUMBLE(at, INTERVAL '10' SECOND), u;
    INSERT INTO now SELECT window_start, u, COUNT(*)
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(at), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, u;
    INSERT INTO sessions
    SELECT SESSION_START(at, INTERVAL '4' SECOND), SESSION_END(at, INTERVAL '4' SECOND), u, COUNT(*) FROM events
    GROUP BY u, SESSION(at, INTERVAL '4' SECOND);
"""


class Windows:
    """What windows must hold: a row counts while its window is not complete, by the watermark before its batch."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, int]] = []
        self.sessions: list[tuple[Any, ...]] = []
        """Those that are complete: start, end, user, number of rows."""
        self._open: list[tuple[str, int, int, int]] = []
        self._watermark = -1000

    def add(self, batch: list[tuple[str, int, int]]) -> None:
        """A micro-batch of user, value and second."""
        self.rows += [row for row in batch if row[2] // _SIZE * _SIZE + _SIZE > self._watermark]
        new = [(user, second, second + _GAP, 1) for user, _, second in batch if second + _GAP > self._watermark]
        self._watermark = max([self._watermark, *(second - 10 for _, _, second in batch)])
        merged: list[tuple[str, int, int, int]] = []
        for user, start, end, count in sorted([*self._open, *new]):
            if merged and merged[-1][0] == user and start <= merged[-1][2]:
                _, begin, last, before = merged.pop()
                merged.append((user, begin, max(end, last), before + count))
            else:
                merged.append((user, start, end, count))
        self._open = [one for one in merged if one[2] > self._watermark]
        self.sessions += [(_moment(s), _moment(e), user, n) for user, s, e, n in merged if e <= self._watermark]

    def windows(self, *, only_complete: bool) -> list[tuple[Any, ...]]:
        """Start, user, number of rows and sum of values."""
        found: dict[tuple[int, str], list[int]] = {}
        for user, value, second in self.rows:
            found.setdefault((second // _SIZE * _SIZE, user), []).append(value)
        return sorted(
            (_moment(start), user, len(values), sum(values))
            for (start, user), values in found.items()
            if not only_complete or start + _SIZE <= self._watermark
        )


def test_windows_have_the_rows_that_came_in_time(
    spark: SparkSession, new_script: Callable[[], Script], conn: lw.Connection, database: str
) -> None:
    """Final ones in a log, those so far by key, sessions; late rows, too late rows, and a restart between."""
    seed = random.SystemRandom().randrange(1 << 30)
    draw, model, script = random.Random(seed), Windows(), new_script()
    script.run(_EVENTS)
    for number in range(3):
        if number == 2:
            script.jobs.stop()
            script = new_script()
        if number != 1:
            script.run(_WINDOWS)
        middle = 25 * number + 15
        batch = [(draw.choice("ab"), draw.randrange(9), max(0, middle + draw.randrange(-25, 10))) for _ in range(8)]
        rows = [{"u": u, "v": v, "at": _moment(second)} for u, v, second in batch]
        conn.table(f"{database}.events").append(rows)
        model.add(batch)
        for query in spark.streams.active:
            query.processAllAvailable()
        assert _rows(conn, f"{database}.final") == model.windows(only_complete=True), (seed, number)
        assert _rows(conn, f"{database}.now") == [row[:3] for row in model.windows(only_complete=False)], (seed, number)
        assert _rows(conn, f"{database}.sessions") == sorted(model.sessions), (seed, number)
    script.jobs.stop()


def _moment(second: int) -> datetime:
    return START + timedelta(seconds=second)


def _rows(conn: lw.Connection, table: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in conn.sql(f"SELECT * FROM {table}").to_pylist())
