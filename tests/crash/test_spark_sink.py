"""kill -9 of a Spark driver between write and commit: no row is missing, and none is there twice."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from server_process import ServerProcess
from spark_sink_driver import MOMENTS

import lakeward as lw

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "1"))
_ROUNDS_MAX = 20
_BATCHES = 2 if ROUNDS == 1 else 3  # of a round, for each sink
_ROWS_PER_ROUND = 150 * _BATCHES
_COMMITS_PER_ROUND = 2 * _BATCHES
_ATTEMPTS = 5
_TOO_BUSY = "failed to connect back"
_SUPPORT = Path(__file__).parents[1] / "support"
_DRIVER = _SUPPORT / "spark_sink_driver.py"

pytestmark = [
    pytest.mark.crash,
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def _run(told: dict[str, Any], log: Path) -> int:
    """Run a driver to its end, which may be violent; nothing of it is left afterwards."""
    environment = {**os.environ, "PYTHONPATH": str(_SUPPORT)}
    with log.open("a") as out:
        command = [sys.executable, str(_DRIVER), json.dumps(told)]
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True)
        try:
            return process.wait(600)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _run_in_time(told: dict[str, Any], log: Path) -> int:
    """The same; once more when Spark, which gives Python processes ten seconds, gave up on a busy machine."""
    for _ in range(_ATTEMPTS):
        begin = log.stat().st_size if log.exists() else 0
        code = _run(told, log)
        if code != 1 or _TOO_BUSY not in log.read_text()[begin:]:
            break
    return code


def _deaths(seed: int) -> list[dict[str, Any]]:
    """Every moment in turn, each after a random number of commits; every third time the commit outlives the driver."""
    chance = random.Random(seed)
    moments = list(MOMENTS)
    chance.shuffle(moments)
    return [
        {"moment": moments[i % len(moments)], "after": chance.randrange(_COMMITS_PER_ROUND), "zombie": i % 3 == 2}
        for i in range(min(ROUNDS, _ROUNDS_MAX))
    ]


@pytest.mark.long
def test_killing_the_driver_loses_nothing_and_repeats_nothing(
    server: ServerProcess, database: str, tmp_path: Path
) -> None:
    """Log table and primary key table, with a random shuffle and tasks that fail, over many deaths."""
    seed = random.randrange(2**32)
    with lw.connect(server.bootstrap) as conn:
        source = conn.create_table(f"{database}.source", "id BIGINT NOT NULL, s STRING", buckets=2)
        log = conn.create_table(f"{database}.log", "id BIGINT NOT NULL, s STRING", buckets=3)
        keyed = conn.create_table(f"{database}.keyed", "id BIGINT, s STRING", primary_key=["id"], buckets=2)
        told = {
            "bootstrap": server.bootstrap,
            "source": f"{database}.source",
            "sinks": [f"{database}.log", f"{database}.keyed"],
            "work": str(tmp_path),
            "fails_every": 2 if ROUNDS == 1 else 1,
        }
        written = 0
        killed, deaths = 0, _deaths(seed)
        for death in deaths:
            ids = range(written, written + _ROWS_PER_ROUND)
            source.append({"id": list(ids), "s": [f"row {i}" for i in ids]})
            written += _ROWS_PER_ROUND
            code = _run_in_time({**told, "death": death}, tmp_path / "driver.log")
            assert code in {0, -signal.SIGKILL}, (tmp_path / "driver.log").read_text()[-4000:]
            killed += code != 0
        assert 2 * killed >= len(deaths), "a death may miss its moment, but most must come"
        assert _run_in_time({**told, "death": None}, tmp_path / "driver.log") == 0, f"seed {seed}"
        assert Counter(log.scan(["id"]).to_arrow()["id"].to_pylist()) == Counter(range(written)), f"seed {seed}"
        changes = keyed.changelog(["id"]).to_arrow()
        assert Counter(changes["id"].to_pylist()) == Counter(range(written)), f"seed {seed}"
        assert set(changes["_change_type"].to_pylist()) == {"+I"}, f"seed {seed}"
        assert keyed.snapshot().num_rows == written
