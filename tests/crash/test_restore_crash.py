"""Servers that are killed while they copy, and restores that are killed while they run: what comes back agrees.

RESTORE_CRASH_ROUNDS says how often, RESTORE_CRASH_SEED with which luck.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import sqlite3
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from forked import Forked
from lost_server import LostServer

import lakeward

pytestmark = pytest.mark.crash

_ROUNDS = int(os.environ.get("RESTORE_CRASH_ROUNDS", "1"))
_SEED = int(os.environ.get("RESTORE_CRASH_SEED", "8"))
_KEYS = 400
LOG, STATE = "fluss.log", "fluss.state"


class Writer(threading.Thread):
    """Appends and upserts until its server is gone; knows what was acknowledged."""

    def __init__(self, bootstrap: str, next_id: int) -> None:
        super().__init__(daemon=True)
        self._address = bootstrap
        self.next_id = next_id
        self.batches = 0

    def run(self) -> None:
        try:
            with lakeward.connect(self._address, writer_retries=0) as connection:
                log, state = connection.table(LOG), connection.table(STATE)
                while True:
                    first = self.next_id
                    log.append([{"id": i} for i in range(first, first + 50)])
                    state.upsert([{"id": i % _KEYS, "turn": i} for i in range(first, first + 50)])
                    self.next_id += 50
                    self.batches += 1
        except (lakeward.LakewardError, OSError):
            return


def folded(connection: lakeward.Connection) -> dict[int, int]:
    """The state as the changelog tells it."""
    state: dict[int, int] = {}
    for change in connection.table(STATE).changelog().to_arrow().to_pylist():
        if change["_change_type"] in {"+I", "+U"}:
            state[change["id"]] = change["turn"]
        else:
            state.pop(change["id"], None)
    return state


def check(connection: lakeward.Connection) -> int:
    """State and changelog agree, the log has no gap; its end."""
    found = {row["id"]: row["turn"] for row in connection.table(STATE).snapshot().to_pylist()}
    assert found == folded(connection)
    ids = connection.table(LOG).scan(["id"]).to_arrow()["id"].to_pylist()
    assert ids == list(range(len(ids)))
    return len(ids)


def promised_end(remote: Path) -> int:
    """Up to where the log table is remote, by the newest backup of the metadata: that much must come back."""
    for path in sorted((remote / "lakeward" / "metadata").glob("*.db.gz"), reverse=True):
        try:
            content = gzip.decompress(path.read_bytes())
        except FileNotFoundError:
            continue  # a newer one has just taken its place
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(content)
            found = database.execute("SELECT text FROM documents WHERE area = 'remote-logs' AND key LIKE '0/%'")
            return max((json.loads(text)["remote_log_end_offset"] for (text,) in found), default=0)
    return 0


def killed_restores(server: LostServer, luck: random.Random) -> None:
    """Begin restores that do not get to their end, as a rule."""
    for _ in range(luck.randint(0, 2)):
        process = Forked(server.restore_command("--take-over"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(luck.uniform(0.2, 1.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def clear_finished(server: LostServer, tmp_path: Path) -> None:
    """A restore that did get to its end leaves a directory that is not restored into again."""
    for path in tmp_path.glob("data-*"):
        if path.is_dir() and path != server.process.data_dir and not (path / "restoring.json").exists():
            shutil.rmtree(path)


@pytest.mark.covering("hash")
@pytest.mark.timeout(60 + 40 * _ROUNDS)
@pytest.mark.parametrize("engine", ["hash", "rocksdb"])
def test_what_comes_back_agrees(tmp_path: Path, engine: str) -> None:
    """Whatever is killed when: nothing that was remote is lost, and nothing disagrees."""
    luck = random.Random(f"{_SEED} {engine}")
    remote = tmp_path / "remote"
    server = LostServer(tmp_path, {"remote__data__dir": str(remote)}, kv__engine=engine)
    server.process.start()
    with server.connect() as connection:
        connection.create_table(LOG, "id INT", buckets=1)
        connection.create_table(STATE, "id INT, turn INT", primary_key=["id"], buckets=1)
    end = 0
    try:
        for number in range(_ROUNDS):
            writer = Writer(server.process.bootstrap, end)
            writer.start()
            deadline = time.monotonic() + 30
            while writer.batches < 5 and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(luck.uniform(0.3, 2.5))
            if luck.random() < 0.3:
                server.process.restart(kill=True)
            at_least = promised_end(remote)
            server.process.kill()
            writer.join(30)
            killed_restores(server, luck)
            clear_finished(server, tmp_path)
            report: dict[str, Any] = server.come_back()
            assert [table["troubles"] for table in report["tables"]] == [[], []], f"round {number}: {report}"
            with server.connect() as connection:
                end = check(connection)
            assert at_least <= end <= writer.next_id + 50, f"round {number}"
    finally:
        server.process.kill()
    assert "Traceback" not in server.process.log_text, server.process.log_text[-8000:]
