"""Committers of staged writes that are killed with -9, and servers that are."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from server_process import ServerProcess
from staged_runs import SMALL_BATCHES, Cut, PowerCutError, check, killed, log_table, run_batch, sum_table

import lakeward

pytestmark = pytest.mark.crash

KINDS = {"log": log_table, "sum": sum_table}


@pytest.mark.covering("sum")
@pytest.mark.timeout(240)
@pytest.mark.parametrize("kind", KINDS)
def test_killed_committers_leave_each_row_once(
    new_server: Callable[..., ServerProcess], tmp_path: Path, kind: str
) -> None:
    """One process after the other dies at another step; the same batch comes again with its rows divided otherwise."""
    server = new_server()
    steps = [("planned", 1), ("manifest", 1), ("append", 3), ("append", 9), ("appended", 1), ("done", 1)]
    with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as conn:
        table = KINDS[kind](conn, "fluss.t")
        for batch_id, (step, nth) in enumerate(steps):
            code = killed(server.bootstrap, "fluss.t", tmp_path / "stage", kind, batch_id, batch_id, step, nth)
            assert code == -signal.SIGKILL
            run_batch(conn, "fluss.t", str(tmp_path / "stage"), kind, batch_id, seed=batch_id + 50)
            check(table, kind, batch_id + 1)


@pytest.mark.covering("log")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_outlives_its_server(new_server: Callable[..., ServerProcess], tmp_path: Path, kind: str) -> None:
    """The server dies in the middle of a commit and comes back; the committer goes on."""
    server = new_server()
    left = [9]

    def restart(step: str) -> None:
        left[0] -= step == "append"
        if left[0] == 0:
            left[0] = -1
            server.kill()
            server.start()

    with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as conn:
        table = KINDS[kind](conn, "fluss.t")
        run_batch(conn, "fluss.t", str(tmp_path / "stage"), kind, 0, seed=1, tell=restart)
        check(table, kind, 1)


@pytest.mark.covering("sum")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_was_killed_too_still_knows_what_it_has(
    new_server: Callable[..., ServerProcess], tmp_path: Path, kind: str
) -> None:
    """Committer and server die in the middle of a commit; both come back."""
    server = new_server()
    with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as conn:
        table = KINDS[kind](conn, "fluss.t")
        run_batch(conn, "fluss.t", str(tmp_path / "stage"), kind, 0, seed=1)
        with pytest.raises(PowerCutError):
            run_batch(conn, "fluss.t", str(tmp_path / "stage"), kind, 1, seed=2, tell=Cut("append", 8))
        server.kill()
        server.start()
        run_batch(conn, "fluss.t", str(tmp_path / "stage"), kind, 1, seed=3)
        check(table, kind, 2)
