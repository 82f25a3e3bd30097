"""kill -9 of a stream from topic to topic, exactly once: whoever reads whole transactions sees every row once.

On a real Kafka, since the mock keeps no offsets of transactions: only where KAFKA_KILL_ROUNDS says so, in `make
test-crash`.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kafka_broker import RealBroker, can_run_kafka

ROUNDS = int(os.environ.get("KAFKA_KILL_ROUNDS", "0"))
_ROWS_PER_ROUND = 1500
_SUPPORT = Path(__file__).parents[1] / "support"

pytestmark = [
    pytest.mark.crash,
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not ROUNDS or not can_run_kafka(), reason="needs KAFKA_KILL_ROUNDS, Java and Maven"),
]


def _start(broker: RealBroker, work: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(_SUPPORT / "kafka_copy_driver.py"), broker.bootstrap, "rows", "copies"]
    with (work / "log").open("ab") as log:
        return subprocess.Popen(
            [*command, str(work / "checkpoint"), *more], stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_killed_stream_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    """Rows come while it runs; it is killed at any moment, Java and Python together, and goes on."""
    chance = random.Random()
    broker = RealBroker(tmp_path / "broker")
    try:
        broker.create("rows", 3)
        broker.create("copies", 2)
        for number in range(ROUNDS):
            rows = range(number * _ROWS_PER_ROUND, (number + 1) * _ROWS_PER_ROUND)
            broker.send("rows", ({"id": n} for n in rows))
            process = _start(broker, tmp_path)
            try:
                assert process.stdout is not None
                process.stdout.readline()
                time.sleep(chance.uniform(3, 25))
            finally:
                _kill(process)
        last = _start(broker, tmp_path, "--to-the-end")
        try:
            assert last.wait(900) == 0, (tmp_path / "log").read_text()[-3000:]
        finally:
            _kill(last)
        ids = [row["id"] for row in broker.rows("copies")]
        assert len(ids) == len(set(ids)), "a row came twice"
        assert sorted(ids) == list(range(ROUNDS * _ROWS_PER_ROUND))
    finally:
        broker.stop()
