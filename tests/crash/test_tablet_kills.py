"""Tablet servers are killed at random under writers: what was acknowledged is there, and state equals changelog.

TABLET_KILLS says how often; a few by default.
"""

from __future__ import annotations

import os
import random
import re
import signal
import threading
import time
from pathlib import Path

import pytest
from eventually import eventually
from server_process import ServerProcess

import lakeward

pytestmark = pytest.mark.crash
KILLS = int(os.environ.get("TABLET_KILLS", "4"))
_THERE = re.compile(r"tablet server (\d+) is there \(process (\d+)\)")


def _pids(server: ServerProcess) -> dict[int, int]:
    return {int(number): int(pid) for number, pid in _THERE.findall(server.log_text)}


def test_rows_survive_kills_of_tablet_servers(tmp_path: Path) -> None:
    """Rows of a log once each and in order; by key the last value that was acknowledged, on state and changelog."""
    chance, is_over = random.Random(22), threading.Event()
    with ServerProcess(tmp_path / "data", tablets=3) as server, lakeward.connect(server.bootstrap) as conn:
        log = conn.create_table("fluss.log", "id BIGINT", buckets=3)
        keyed = conn.create_table("fluss.keyed", "id BIGINT NOT NULL, n BIGINT", primary_key="id", buckets=3)
        written = [0, 0]

        def write_log() -> None:
            while not is_over.is_set():
                log.append([{"id": written[0] + number} for number in range(20)])
                written[0] += 20

        def write_keyed() -> None:
            while not is_over.is_set():
                keyed.upsert([{"id": number, "n": written[1] + 1} for number in range(50)])
                written[1] += 1

        writers = [threading.Thread(target=one) for one in (write_log, write_keyed)]
        for writer in writers:
            writer.start()
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.1, 0.6))
            before = _pids(server)
            victim = chance.choice(sorted(before))
            os.kill(before[victim], signal.SIGKILL)
            assert eventually(lambda before=before, victim=victim: _pids(server)[victim] != before[victim], within_s=60)
        is_over.set()
        for writer in writers:
            writer.join(60)
        assert sorted(log.scan().to_arrow().column("id").to_pylist()) == list(range(written[0]))
        assert set(keyed.lookup(list(range(50))).column("n").to_pylist()) == {written[1]}
        last = {row["id"]: row["n"] for row in keyed.changelog(end="latest").to_arrow().to_pylist()}
        assert set(last.values()) == {written[1]}
        server.stop()
    assert "Traceback" not in server.log_text, server.log_text[-8000:]
