"""kill -9 of a job that follows a database, of the database, and of the server that it writes to, while rows change."""

from __future__ import annotations

import os
import random
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest
import yaml
from cli_process import Cli
from eventually import eventually
from mariadb import MariaDb, mariadb_or_skip
from postgres import Postgres
from script_runs import FAST
from server_process import ServerProcess
from steady_changer import SteadyChanger

import lakeward as lw
from lakeward.runtime.process.child import Child

ROUNDS = int(os.environ.get("CAPTURE_KILL_ROUNDS", "0"))
SEED = int(os.environ.get("CRASH_SEED", str(random.SystemRandom().randrange(10**6))))
_ROWS = 3000
_JOB = """
CREATE TABLE source (a INT, b STRING, n INT, PRIMARY KEY (a, b) NOT ENFORCED) WITH ({options});
CREATE TABLE pairs (a INT, b STRING, n INT, PRIMARY KEY (a, b) NOT ENFORCED) WITH ('connector' = 'fluss',
    'table.name' = 'kills.pairs', 'bucket.num' = '2');
SET 'pipeline.name' = 'pairs';
INSERT INTO pairs SELECT * FROM source;
"""
_PIPELINE = {"sink": {"type": "fluss", "database-name": "kills", "table-name": "pairs"}, "pipeline": {"name": "pairs"}}
#: Many small steps, so that a kill is in the middle of one.
_CHUNK_ROWS, _BATCH_ROWS = {"scan.incremental.snapshot.chunk.size": "60"}, "300"
#: Which database, and what follows it; `make test` has one of them, by chance.
WAYS = ["postgres-pipeline", "mariadb-script", "postgres-script", "mariadb-pipeline"]
_BY_CHANCE = "by chance"
Pairs = list[tuple[int, str, int]]

pytestmark = [
    pytest.mark.crash,
    pytest.mark.slow,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(not ROUNDS, reason="needs CAPTURE_KILL_ROUNDS: minutes, in `make test-crash`"),
]


class Victim(Protocol):
    """What can be killed and started again."""

    def start(self) -> object: ...

    def kill(self) -> None: ...


class Source:
    """A database with a table of pairs."""

    def __init__(self, server: Postgres | MariaDb, options: dict[str, str]) -> None:
        self.server = server
        self.options = options
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE pairs (a INT, b VARCHAR(20), n INT, PRIMARY KEY (a, b))")
            if isinstance(server, Postgres):
                cursor.execute("ALTER TABLE pairs REPLICA IDENTITY FULL")
            cursor.executemany(
                "INSERT INTO pairs VALUES (%s, %s, %s)", [(n % 60, f"b{n // 60}", n) for n in range(_ROWS)]
            )
            connection.commit()

    def connect(self) -> Any:
        """A connection that does not commit by itself."""
        if isinstance(self.server, MariaDb):
            return self.server.connect("shop", autocommit=False)
        return psycopg.connect(self.server.socket_uri, connect_timeout=5)

    def rows(self) -> Pairs:
        """What the table holds."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT a, b, n FROM pairs")
            return sorted((a, b, n) for a, b, n in cursor.fetchall())


@contextmanager
def _source(kind: str) -> Iterator[Source]:
    if kind == "postgres":
        with Postgres() as server:
            options = {"connector": "postgres-cdc", **_options_of(server), "table-name": "pairs"}
            yield Source(server, options)
        return
    # A commit that was told of must survive a kill: the tests' own settings are quicker than that.
    with mariadb_or_skip(innodb_flush_log_at_trx_commit="1", sync_binlog="1") as maria:
        maria.execute("CREATE DATABASE shop")
        options = {"connector": "mysql-cdc", **maria.options, "database-name": "shop", "table-name": "pairs"}
        yield Source(maria, options)


def _quote(value: str) -> str:
    """A text between the quotes of SQL."""
    return value.replace("'", "''")


def _options_of(server: Postgres) -> dict[str, str]:
    uri = psycopg.conninfo.conninfo_to_dict(server.uri)
    names = {"hostname": "host", "port": "port", "username": "user", "password": "password", "database-name": "dbname"}
    return {ours: str(uri[theirs]) for ours, theirs in names.items()}


def _write_script(place: Path, source: dict[str, str]) -> tuple[str, ...]:
    """A script that follows the table; the command that runs it."""
    told = {**source, **_CHUNK_ROWS, "maxRowsPerTrigger": _BATCH_ROWS}
    options = ", ".join(f"'{key}' = '{_quote(value)}'" for key, value in told.items())
    (place / "job.sql").write_text(_JOB.format(options=options))
    return "run", "job.sql"


def _write_pipeline(place: Path, source: dict[str, str], bootstrap: str) -> tuple[str, ...]:
    """A pipeline that does the same."""
    kind = "postgres" if source["connector"] == "postgres-cdc" else "mysql"
    told = {key: value for key, value in source.items() if key != "connector"}
    written = {**_PIPELINE, "source": {"type": kind, **told, **_CHUNK_ROWS, "scan.max-rows": _BATCH_ROWS}}
    written["sink"] = {**_PIPELINE["sink"], "bootstrap.servers": bootstrap}
    (place / "pairs.yaml").write_text(yaml.safe_dump(written))
    return "pipeline", "run", "pairs.yaml"


class Job:
    """A command that follows the table, which can be killed and started again."""

    def __init__(self, cli: Cli, command: tuple[str, ...]) -> None:
        self._cli, self._command = cli, command
        self._process: Child | None = None
        self.said: list[str] = []

    def start(self) -> None:
        """Start it, and wait until it has read something."""
        self._process = process = self._cli.start(*self._command, *FAST)
        said: list[str] = []
        self.said = said

        def listen() -> None:
            assert process.stderr is not None
            said.extend(iter(process.stderr.readline, ""))

        threading.Thread(target=listen, daemon=True).start()
        has_read = re.compile(r"pairs: [1-9][\d,]* rows")
        assert eventually(lambda: bool(has_read.search("".join(said))) or not self.runs, within_s=300), "".join(said)
        assert self.runs, f"seed {SEED}: it ended by itself:\n{''.join(said)}"

    @property
    def runs(self) -> bool:
        """Whether it goes on."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End it in good order."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(120) == 0, "".join(self.said)


def _state(conn: lw.Connection) -> Pairs:
    return sorted((row["a"], row["b"], row["n"]) for row in conn.table("kills.pairs").snapshot().to_pylist())


def _replayed(conn: lw.Connection) -> Pairs:
    """The state as the changelog tells it; every change must fit what was there."""
    state: dict[tuple[int, str], int] = {}
    for change in conn.table("kills.pairs").changelog().to_arrow().to_pylist():
        key, kind = (change["a"], change["b"]), change["_change_type"]
        if kind in {"+I", "+U"}:
            assert kind == "+U" or key not in state, f"seed {SEED}: {key} comes twice"
            state[key] = change["n"]
        elif kind == "-D":
            assert state.pop(key) == change["n"], f"seed {SEED}: {change}"
    return sorted((a, b, n) for (a, b), n in state.items())


@pytest.mark.parametrize("way", WAYS if ROUNDS > 1 else [_BY_CHANCE])
def test_a_table_that_changes_is_followed_through_every_kill(
    new_server: Callable[..., ServerProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """In the middle of the copy and of the stream: the table is the source's table, and its changelog replays to it."""
    chance, server = random.Random(SEED), new_server()
    kind, _, follower = (chance.choice(WAYS) if way == _BY_CHANCE else way).partition("-")
    print(f"CRASH_SEED={SEED}: {kind}, {follower}")
    monkeypatch.setenv("LAKEWARD_STATE", str(tmp_path / "state"))
    with _source(kind) as source:
        if follower == "script":
            command = _write_script(tmp_path, source.options)
        else:
            command = _write_pipeline(tmp_path, source.options, server.bootstrap)
        with lw.connect(server.bootstrap) as conn:
            conn.create_database("kills")
        job = Job(Cli(server.bootstrap, tmp_path), command)
        changer = SteadyChanger(source.connect, SEED)
        try:
            job.start()
            for _ in range(ROUNDS):
                victims: list[Victim] = [source.server, server, job]
                chance.shuffle(victims)
                for victim in victims:
                    time.sleep(chance.uniform(0, 4))
                    victim.kill()
                    time.sleep(chance.uniform(0, 2))
                    victim.start()
        finally:
            changer.stop()
        assert changer.transactions > 0
        wanted = source.rows()
        with lw.connect(server.bootstrap) as conn:
            is_there = eventually(lambda: _state(conn) == wanted or not job.runs, within_s=300)
            assert is_there, f"seed {SEED}:\n{''.join(job.said)[-3000:]}"
            job.stop()
            assert _state(conn) == wanted, f"seed {SEED}:\n{''.join(job.said)[-3000:]}"
            assert _replayed(conn) == wanted, f"seed {SEED}"
