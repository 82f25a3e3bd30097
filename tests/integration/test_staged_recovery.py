"""Staged writes that are interrupted: the same batch id again leaves no row missing and none twice."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client_rows import fresh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from staged_runs import (
    SMALL_BATCHES,
    Cut,
    PowerCutError,
    check,
    log_table,
    rows_of_batch,
    run_batch,
    staged,
    sum_table,
)

import lakeward
from lakeward.client.blocking.sync import Connection
from lakeward.client.staged import StagedSink

STEPS = [("planned", 1), ("manifest", 1), ("append", 1), ("append", 7), ("appended", 1), ("done", 1), ("cleaned", 1)]
KINDS = {"log": log_table, "sum": sum_table}


@pytest.fixture
def conn(server: Any) -> Iterator[Connection]:
    """Our connection, with small batches."""
    with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as made:
        yield made


@pytest.mark.covering
@pytest.mark.parametrize(("step", "nth"), STEPS, ids=[f"{s}-{n}" for s, n in STEPS])
@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_that_ends_at_any_step_is_finished_by_its_repetition(
    conn: Connection, database: str, tmp_path: Path, kind: str, step: str, nth: int
) -> None:
    """The repetition comes with the same rows, divided and ordered otherwise, in files instead of inline."""
    path = f"{database}.t"
    table = KINDS[kind](conn, path)
    run_batch(conn, path, str(tmp_path), kind, 0, seed=1)
    with pytest.raises(PowerCutError):
        run_batch(conn, path, str(tmp_path), kind, 1, seed=2, tell=Cut(step, nth))
    run_batch(conn, path, str(tmp_path), kind, 1, seed=3)
    check(table, kind, 2)
    assert run_batch(conn, path, str(tmp_path), kind, 1, seed=4).already_done
    run_batch(conn, path, str(tmp_path), kind, 2, seed=5)
    check(table, kind, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_batch_is_finished_before_the_next_one(
    conn: Connection, database: str, tmp_path: Path, kind: str
) -> None:
    """An engine that went on to the next batch id must have been told that this one is committed."""
    path = f"{database}.t"
    table = KINDS[kind](conn, path)
    with pytest.raises(PowerCutError):
        run_batch(conn, path, str(tmp_path), kind, 0, seed=1, tell=Cut("append", 5))
    run_batch(conn, path, str(tmp_path), kind, 1, seed=3)
    check(table, kind, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_interruptions_may_follow_each_other(conn: Connection, database: str, tmp_path: Path, kind: str) -> None:
    """Each attempt gets a little further."""
    path = f"{database}.t"
    table = KINDS[kind](conn, path)
    for attempt in range(6):
        with pytest.raises(PowerCutError):
            run_batch(conn, path, str(tmp_path), kind, 0, seed=attempt, tell=Cut("append", 2))
    run_batch(conn, path, str(tmp_path), kind, 0, seed=9)
    check(table, kind, 1)


@pytest.mark.long
@given(
    plan=st.lists(
        st.tuples(st.sampled_from(["planned", "manifest", "append", "appended", "done"]), st.integers(1, 12)),
        min_size=1,
        max_size=4,
    ),
    seed=st.integers(0, 1000),
    kind=st.sampled_from(sorted(KINDS)),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_sequence_of_interruptions_leaves_each_row_once(
    conn: Connection, database: str, tmp_path: Path, plan: list[tuple[str, int]], seed: int, kind: str
) -> None:
    """Power cuts at random places of two batches."""
    path, directory = f"{database}.{fresh('t')}", str(tmp_path / fresh("stage"))
    table = KINDS[kind](conn, path)
    for batch_id in range(2):
        for number, (step, nth) in enumerate(plan):
            try:
                run_batch(conn, path, directory, kind, batch_id, seed=seed + number, tell=Cut(step, nth))
            except PowerCutError:
                continue
        run_batch(conn, path, directory, kind, batch_id, seed=seed + 99)
    check(table, kind, 2)


class _Sleeper:
    """A committer that falls asleep at a step until it is woken."""

    def __init__(self, step: str, nth: int = 1) -> None:
        self._step, self._left = step, nth
        self.asleep, self.awake = threading.Event(), threading.Event()

    def __call__(self, step: str) -> None:
        if step == self._step:
            self._left -= 1
            if self._left == 0:
                self.asleep.set()
                assert self.awake.wait(60)


@pytest.mark.covering
@pytest.mark.parametrize("later_batches", [0, 1, 3])
@pytest.mark.parametrize(("step", "nth"), [("planned", 1), ("manifest", 1), ("append", 4), ("appended", 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_committer_that_wakes_late_changes_nothing(
    server: Any, conn: Connection, database: str, tmp_path: Path, kind: str, step: str, nth: int, later_batches: int
) -> None:
    """Another one has committed the batch, and others after it, while this one slept."""
    path, directory = f"{database}.t", str(tmp_path)
    table = KINDS[kind](conn, path)
    run_batch(conn, path, directory, kind, 0, seed=1)
    sleeper = _Sleeper(step, nth)
    failures: list[BaseException] = []

    def late() -> None:
        try:
            with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as own:
                run_batch(own, path, directory, kind, 1, seed=2, tell=sleeper)
        except lakeward.LakewardError as wrong:
            failures.append(wrong)

    thread = threading.Thread(target=late)
    thread.start()
    try:
        assert sleeper.asleep.wait(60)
        for batch_id in range(1, 2 + later_batches):
            run_batch(conn, path, directory, kind, batch_id, seed=3 + batch_id)
    finally:
        sleeper.awake.set()
        thread.join()
    assert not failures
    check(table, kind, 2 + later_batches)
    run_batch(conn, path, directory, kind, 2 + later_batches, seed=30)
    check(table, kind, 3 + later_batches)


@pytest.mark.parametrize("kind", KINDS)
def test_two_committers_at_once_append_once(
    server: Any, conn: Connection, database: str, tmp_path: Path, kind: str
) -> None:
    """Both carry out the manifest of whoever was first."""
    path, directory = f"{database}.t", str(tmp_path)
    table = KINDS[kind](conn, path)
    for batch_id in range(4):
        gate = threading.Barrier(2)

        def one(seed: int, batch_id: int = batch_id, gate: threading.Barrier = gate) -> None:
            with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as own:
                parts = staged(own, path, rows_of_batch(kind, batch_id), directory, seed=seed, inline_bytes=0)
                sink = StagedSink(own, path, directory)
                gate.wait(60)
                sink.commit(batch_id, parts)

        threads = [threading.Thread(target=one, args=(random.Random(batch_id).randint(0, 99) + i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check(table, kind, 4)
