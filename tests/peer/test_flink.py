"""Flink's SQL with the connector of Apache Fluss, both as they are published: at our server, over a lake that we write.

It is also killed under Flink's jobs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest
from cli_process import Cli
from eventually import eventually
from server_process import ServerProcess

import lakeward as lw

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

_CLASS_PATH = os.environ["LAKEWARD_PEER_FLINK"]
_PROGRAM = Path(__file__).parents[1] / "data" / "FlinkStory.java"
_OPEN = [f"--add-opens=java.base/java.{what}=ALL-UNNAMED" for what in ("nio", "util", "lang")]
_FLINK_S = 240
_MANY = 200_000


class Story:
    """A Flink on its way through its steps."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.told: dict[str, str] = {}

    def until(self, last: str) -> dict[str, str]:
        """What came of each step so far, when the one of this name is done."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            step, _, told = line.rstrip("\n").partition(": ")
            self.told[step] = told
            if step == last:
                return self.told
        raise AssertionError(f"Flink ended before {last!r}; it told {self.told}")

    def go_on(self) -> None:
        """Past a pause."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()


@contextmanager
def flink(bootstrap: str, directory: Path, steps: str) -> Iterator[Story]:
    """Begin to take the steps; whoever leaves has ended it."""
    file = directory / "steps.sql"
    file.write_text(steps)
    command = ["java", *_OPEN, "-cp", _CLASS_PATH, str(_PROGRAM), bootstrap, str(file)]
    with (directory / "flink.log").open("w") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    story = Story(process)
    try:
        yield story
    except BaseException:
        print(*story.told.items(), sep="\n")
        print((directory / "flink.log").read_text()[-6000:], file=sys.stderr)
        raise
    finally:
        process.kill()
        for pipe in (process.stdin, process.stdout):
            _close(pipe)
        process.wait(_FLINK_S)


def _close(pipe: IO[str] | None) -> None:
    assert pipe is not None
    with suppress(BrokenPipeError):  # it was ended before it read the last line
        pipe.close()


_DAY = """
-- do database
CREATE DATABASE shop
-- do keyed
CREATE TABLE shop.users (id BIGINT, name STRING, score DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket.num' = '3')
-- do log
CREATE TABLE shop.clicks (id BIGINT, page STRING, at_time AS PROCTIME()) WITH ('bucket.num' = '2')
-- all tables
SHOW TABLES FROM shop
-- do upsert
INSERT INTO shop.users VALUES (1, 'Ada', 1.5), (2, 'Bo', 2.5), (3, 'Cy', 3.5)
-- do partial
INSERT INTO shop.users (id, score) VALUES (1, 9.5)
-- change update
UPDATE shop.users SET name = 'Bob' WHERE id = 2
-- change delete
DELETE FROM shop.users WHERE id = 3
-- all one
SELECT * FROM shop.users WHERE id = 1
-- all gone
SELECT * FROM shop.users WHERE id = 3
-- take-5 changes
SELECT id, name FROM shop.users /*+ OPTIONS('scan.startup.mode' = 'earliest') */ WHERE id > 1
-- take-2 changelog
SELECT _change_type, id FROM shop.`users$changelog` WHERE id = 3
-- do append
INSERT INTO shop.clicks SELECT id, CONCAT('/', CAST(id AS STRING)) FROM (VALUES (1), (2), (7)) AS t (id)
-- take-3 joined
SELECT c.id, page, name FROM shop.clicks AS c LEFT JOIN shop.users FOR SYSTEM_TIME AS OF c.at_time AS u ON c.id = u.id
-- all limit
SELECT COUNT(*) FROM (SELECT * FROM shop.clicks LIMIT 2)
-- all count
SELECT COUNT(*) FROM shop.clicks
-- do parted
CREATE TABLE shop.days (id BIGINT, d STRING, PRIMARY KEY (id, d) NOT ENFORCED) PARTITIONED BY (d)
-- do partition
ALTER TABLE shop.days ADD PARTITION (d = 'mon')
-- do dynamic
INSERT INTO shop.days VALUES (1, 'mon'), (1, 'tue'), (2, 'tue')
-- all partitions
SHOW PARTITIONS shop.days
-- do drop-partition
ALTER TABLE shop.days DROP PARTITION (d = 'mon')
-- all tuesday
SELECT * FROM shop.days WHERE d = 'tue' AND id = 2
-- do column
ALTER TABLE shop.users ADD city STRING
-- do filled
INSERT INTO shop.users VALUES (4, 'Di', 4.5, 'Rome')
-- all added
SELECT * FROM shop.users WHERE id = 4
-- do drop
DROP TABLE shop.days
-- do twice
CREATE TABLE shop.users (id BIGINT)
-- all unknown
SELECT * FROM shop.nobody
"""

_DAY_TOLD = {
    "tables": "+I[clicks] +I[users]",
    "one": "+I[1, Ada, 9.5]",
    "gone": "",
    "changes": "+I[2, Bo] +I[3, Cy] +U[2, Bob] -D[3, Cy] -U[2, Bo]",
    "changelog": "+I[delete, 3] +I[insert, 3]",
    "joined": "+I[1, /1, Ada] +I[2, /2, Bob] +I[7, /7, null]",
    "limit": "+I[2]",
    "count": "+I[3]",
    "partitions": "+I[d=mon] +I[d=tue]",
    "tuesday": "+I[2, tue]",
    "added": "+I[4, Di, 4.5, Rome]",
    "twice": "TableAlreadyExistException: Table (or view) shop.users already exists in Catalog hot.",
    "unknown": "SqlValidatorException: Object 'nobody' not found within 'hot.shop'",
}

_SUMS = f"""
-- do database
CREATE DATABASE work
-- do many-table
CREATE TABLE work.many (id BIGINT, grp INT, PRIMARY KEY (id) NOT ENFORCED)
-- do sums-table
CREATE TABLE work.sums (grp INT, n BIGINT, total BIGINT, PRIMARY KEY (grp) NOT ENFORCED)
-- do source
CREATE TEMPORARY TABLE made (id BIGINT, grp INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10000',
 'number-of-rows' = '{_MANY}', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{_MANY}',
 'fields.grp.min' = '0', 'fields.grp.max' = '3')
-- job sum
INSERT INTO work.sums SELECT grp, COUNT(*), SUM(id) FROM work.many GROUP BY grp
-- job write
INSERT INTO work.many SELECT * FROM made
-- pause checked
-- stop sum
"""

_UNION = """
-- all state
SELECT * FROM cold.users
-- all log
SELECT COUNT(*), SUM(id) FROM cold.clicks
-- take-1500 streamed
SELECT id FROM cold.clicks
"""
#: What a cluster of Apache Fluss is told of its lake; our service and Flink hear it from the cluster.
_LAKES = {
    "paimon": {"datalake.paimon.metastore": "filesystem", "datalake.paimon.warehouse": "{}"},
    "iceberg-jdbc": {
        "datalake.iceberg.type": "jdbc",
        "datalake.iceberg.uri": "jdbc:sqlite:{}/catalog.db",
        "datalake.iceberg.warehouse": "{}",
    },
    "iceberg-hadoop": {"datalake.iceberg.type": "hadoop", "datalake.iceberg.warehouse": "{}"},
}
#: What the connector of 0.9.1 says of rows by key that are partly in Iceberg, whoever wrote them.
_NOT_BY_ICEBERG = "UnsupportedOperationException: lake records must instance of sorted view."


def test_a_day_of_sql(server: ServerProcess, tmp_path: Path) -> None:
    """Tables, rows, changes, joins, partitions, columns; refusals are Flink's own. Our client reads what it wrote."""
    with flink(server.bootstrap, tmp_path, _DAY) as story:
        told = story.until("unknown")
        assert {step: _sorted(told[step]) for step in _DAY_TOLD} == _DAY_TOLD
        assert {told[step] for step in told.keys() - _DAY_TOLD.keys()} == {"done"}
    with lw.connect(server.bootstrap) as conn:
        found = conn.table("shop.users").snapshot()
    assert sorted(found["name"].to_pylist()) == ["Ada", "Bob", "Di"]


def _sorted(told: str) -> str:
    """Rows in an order of their own: buckets have none among each other."""
    return " ".join(sorted(re.findall(r"[-+][A-Z]\[.*?\]", told))) or told


def test_jobs_go_on_over_killed_servers(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """One writes, one sums up what the other wrote; the server is killed twice under both, and the sums are exact."""
    server = new_server()
    with flink(server.bootstrap, tmp_path, _SUMS) as story:
        assert set(story.until("write").values()) == {"done", "begun"}
        for _ in range(2):
            time.sleep(6)
            server.restart(kill=True)
        with lw.connect(server.bootstrap) as conn:
            assert eventually(lambda: _sums(conn) == (_MANY, _MANY * (_MANY + 1) // 2)), _sums(conn)


def _sums(conn: lw.Connection) -> tuple[int, int]:
    found = conn.table("work.sums").snapshot()
    return sum(found["n"].to_pylist()), sum(found["total"].to_pylist())


@pytest.mark.parametrize("kind", _LAKES)
def test_flink_reads_hot_and_cold_as_one(new_server: Callable[..., ServerProcess], tmp_path: Path, kind: str) -> None:
    """Tables that our service tiered, in batch and as a stream that begins with the lake."""
    (tmp_path / "lake").mkdir()
    lake = {key: value.format(tmp_path / "lake") for key, value in _LAKES[kind].items()}
    server = new_server(**{"datalake.format": kind.partition("-")[0], **lake})
    with lw.connect(server.bootstrap) as conn:
        conn.create_database("cold")
        tiered = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"}
        users = conn.create_table("cold.users", "id BIGINT, name STRING", primary_key=["id"], properties=tiered)
        clicks = conn.create_table("cold.clicks", "id BIGINT, page STRING", buckets=2, properties=tiered)
        users.upsert([{"id": n, "name": f"name {n}"} for n in range(4)])
        clicks.append([{"id": n, "page": f"/{n}"} for n in range(1000)])
        cli = Cli(server.bootstrap, tmp_path)
        service = cli.start("tier", "--engine", "local")
        for table in ("cold.users", "cold.clicks"):
            cli.ok("tier", "now", table, "--wait", "--timeout", "60")
        service.terminate()
        service.communicate(timeout=60)
        users.upsert([{"id": 3, "name": "changed"}, {"id": 4, "name": "new"}])
        users.delete([{"id": 0}])
        clicks.append([{"id": n, "page": f"/{n}"} for n in range(1000, 1500)])
    with flink(server.bootstrap, tmp_path, _UNION) as story:
        told = story.until("streamed")
    whole = "+I[1, name 1] +I[2, name 2] +I[3, changed] +I[4, new]"
    assert told["state"] == (whole if kind == "paimon" else _NOT_BY_ICEBERG)
    assert told["log"] == f"+I[1500, {sum(range(1500))}]"
    assert sorted(map(int, re.findall(r"\d+", told["streamed"]))) == list(range(1500))
