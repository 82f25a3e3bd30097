"""lakeward copy when things die: the copy, either server, connections; and while somebody writes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa
import pytest
from copies import copy, log_of, run_copy, state_of
from eventually import eventually
from forked import Forked
from server_process import ServerProcess

import lakeward
from lakeward.client.blocking.sync import Connection
from lakeward.runtime.process.child import Child

Start = Callable[..., ServerProcess]
pytestmark = pytest.mark.crash
LOG, KEYED = "fluss.events", "fluss.people"
_ROUNDS = 15
EVENTS, CHANGES = 2000 * _ROUNDS, 2000 * _ROUNDS - 1000


@pytest.fixture
def servers(new_server: Start) -> tuple[ServerProcess, ServerProcess]:
    """A source with two tables of many batches, and an empty target."""
    source, target = new_server(), new_server()
    with lakeward.connect(source.bootstrap) as here:
        log = here.create_table(LOG, "id BIGINT, text STRING", buckets=2)
        keyed = here.create_table(KEYED, "id INT NOT NULL, text STRING, PRIMARY KEY (id)", buckets=2)
        with log.writer(batch_rows=200) as writer, keyed.upserter(batch_rows=200) as upserter:
            for number in range(_ROUNDS):
                writer.write(_events(number * 2000, 2000))
                upserter.upsert(_people(number, 1000))
    return source, target


def _events(first: int, count: int) -> pa.Table:
    return pa.table({"id": pa.array(range(first, first + count), pa.int64()), "text": ["x" * 100] * count})


def _people(number: int, count: int) -> pa.Table:
    return pa.table({"id": pa.array(range(count), pa.int32()), "text": [f"{number} {'y' * 50}"] * count})


@contextmanager
def _copying(source: ServerProcess, target: ServerProcess, *arguments: str) -> Iterator[Child]:
    command = [sys.executable, "-m", "lakeward", "copy", source.bootstrap, target.bootstrap, *arguments]
    process = Forked(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _copied(there: Connection, table: str) -> int:
    try:
        return sum(there.table(table).offsets("latest").values())
    except lakeward.NotFoundError:
        return 0


def _check(source: ServerProcess, target: ServerProcess) -> None:
    with lakeward.connect(source.bootstrap) as here, lakeward.connect(target.bootstrap) as there:
        for table in (LOG, KEYED):
            assert log_of(there, table) == log_of(here, table)
        assert state_of(there, KEYED) == state_of(here, KEYED)


def test_a_copy_that_is_killed_goes_on_where_it_stopped(servers: tuple[ServerProcess, ServerProcess]) -> None:
    """kill -9 in the middle of each table, several times; no row is there twice."""
    source, target = servers
    with lakeward.connect(target.bootstrap) as there:
        for table, least in ((LOG, 1), (LOG, 20_000), (KEYED, 1), (KEYED, 20_000)):
            with _copying(source, target, LOG, KEYED) as process:
                assert eventually(lambda table=table, least=least: _copied(there, table) >= least)
                process.kill()
    told = copy(source, target, LOG, KEYED)
    assert {one["compared"] for one in told.values()} == {"same"}
    _check(source, target)


@pytest.mark.covering("target")
@pytest.mark.parametrize("who", ["source", "target"])
def test_a_server_that_dies_meanwhile_is_waited_for(servers: tuple[ServerProcess, ServerProcess], who: str) -> None:
    """kill -9 of one side in the middle; when it is back, the copy goes on and both are the same."""
    source, target = servers
    dies = source if who == "source" else target
    with lakeward.connect(target.bootstrap) as there, _copying(source, target, LOG, KEYED, "-o", "json") as process:
        assert eventually(lambda: _copied(there, LOG) > 5_000)
        dies.kill()
        time.sleep(0.5)
        dies.start()
        told, errors = process.communicate(timeout=120)
    if process.returncode:  # rows that a target had acknowledged and not synced may be gone: then it says so
        assert "Run the copy again" in errors
        copy(source, target, LOG, KEYED)
    else:  # what came there without an answer is counted too
        assert [one["rows"] for one in json.loads(told)["tables"]] == [EVENTS, CHANGES]
    _check(source, target)


@pytest.mark.long
def test_two_copies_at_once_do_no_harm_once_one_has_begun(servers: tuple[ServerProcess, ServerProcess]) -> None:
    """They send the same batches under the same numbers: each is stored once."""
    source, target = servers
    copy(source, target, LOG, KEYED)
    with lakeward.connect(source.bootstrap) as here:
        here.table(LOG).append(_events(0, 20_000))
        here.table(KEYED).upsert(_people(99, 1000))
    with _copying(source, target, LOG, KEYED) as one, _copying(source, target, LOG, KEYED) as other:
        assert all("both sides are the same" in p.communicate(timeout=120)[1] for p in (one, other))
    _check(source, target)


def test_a_cut_over_loses_no_row_of_writers_that_ran_until_then(servers: tuple[ServerProcess, ServerProcess]) -> None:
    """Writers run while it follows; they stop, it ends, they go on at the target with the next offsets."""
    source, target = servers
    stop = threading.Event()

    def write() -> None:
        with lakeward.connect(source.bootstrap) as here:
            log, keyed = here.table(LOG), here.table(KEYED)
            number = 0
            while not stop.is_set():
                number += 1
                log.append(_events(number, 50))
                keyed.upsert(_people(number, 20))
                stop.wait(0.01)

    writer = threading.Thread(target=write)
    with _copying(source, target, LOG, KEYED, "--cut-over", "--silence", "1s") as process:
        writer.start()
        time.sleep(2)
        assert process.poll() is None
        stop.set()
        writer.join()
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert f"Start the writers with {target.bootstrap}." in errors
    _check(source, target)
    with lakeward.connect(source.bootstrap) as here, lakeward.connect(target.bootstrap) as there:
        assert "lakeward.copy-of" not in there.table(KEYED).info.descriptor.custom_properties
        before = here.table(LOG).offsets("latest")
        there.table(LOG).append(_events(0, 10))
        assert sum(there.table(LOG).offsets("latest").values()) == sum(before.values()) + 10
    late = run_copy(source, target, LOG)
    assert late.returncode == 1
    assert "holds rows that are not the source's" in late.stderr


def test_a_target_that_somebody_writes_to_stops_the_copy(servers: tuple[ServerProcess, ServerProcess]) -> None:
    """Rows of others among the copied ones are noticed at once, and told."""
    source, target = servers
    copy(source, target, LOG)
    with (
        lakeward.connect(source.bootstrap) as here,
        lakeward.connect(target.bootstrap) as there,
        _copying(source, target, LOG, "--follow") as process,
    ):
        here.table(LOG).append(_events(0, 5))
        assert eventually(lambda: _copied(there, LOG) == EVENTS + 5)
        there.table(LOG).append(_events(0, 3))
        here.table(LOG).append(_events(0, 3000))
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "somebody else writes to the target" in errors.replace("\n", " ")


@pytest.mark.covering("source")
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_table_that_is_dropped_meanwhile_is_told_with_its_side(
    servers: tuple[ServerProcess, ServerProcess], side: str
) -> None:
    """That a table does not exist says too little where there are two of each."""
    source, target = servers
    with (
        lakeward.connect((source if side == "source" else target).bootstrap) as that_side,
        lakeward.connect(target.bootstrap) as there,
        _copying(source, target, LOG, "--follow", "--no-verify") as process,
    ):
        assert eventually(lambda: _copied(there, LOG) == EVENTS)
        that_side.drop_table(LOG)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"was dropped in the {side} at" in errors.replace("\n", " ")


@pytest.mark.long
def test_following_ends_with_ctrl_c_and_says_how_far_it_is(servers: tuple[ServerProcess, ServerProcess]) -> None:
    """It is how a person says that it is enough."""
    source, target = servers
    with lakeward.connect(target.bootstrap) as there, lakeward.connect(source.bootstrap) as here:
        with _copying(source, target, "--follow", "-o", "json") as process:
            assert eventually(lambda: _copied(there, KEYED) == _copied(here, KEYED))
            here.table(LOG).append(_events(0, 7))
            assert eventually(lambda: _copied(there, LOG) == EVENTS + 7)
            process.send_signal(2)
            told, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert '"behind": 0' in told
    _check(source, target)


@pytest.mark.long
def test_rows_of_others_are_noticed_while_the_source_is_silent(servers: tuple[ServerProcess, ServerProcess]) -> None:
    """Nothing comes from the source, and still it ends."""
    source, target = servers
    copy(source, target, LOG)
    with (
        lakeward.connect(source.bootstrap) as here,
        lakeward.connect(target.bootstrap) as there,
        _copying(source, target, LOG, "--follow") as process,
    ):
        here.table(LOG).append(_events(0, 5))
        assert eventually(lambda: _copied(there, LOG) == EVENTS + 5)
        there.table(LOG).append(_events(0, 1))
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "holds rows that are not the source's" in errors.replace("\n", " ")


@pytest.mark.long
def test_a_follow_that_is_stopped_while_the_target_is_away_does_not_say_0(
    servers: tuple[ServerProcess, ServerProcess],
) -> None:
    """What could not be asked is not known."""
    source, target = servers
    with (
        lakeward.connect(target.bootstrap) as there,
        lakeward.connect(source.bootstrap) as here,
        _copying(source, target, LOG, "--follow", "-o", "json") as process,
    ):
        here.table(LOG).append(_events(0, 7))
        assert eventually(lambda: _copied(there, LOG) == EVENTS + 7)
        time.sleep(1)
        target.kill()
        here.table(LOG).append(_events(0, 900))
        time.sleep(1)
        process.send_signal(2)
        told, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert '"behind": null' in told
    assert "how far behind it is could not be asked" in told


@pytest.mark.long
def test_ctrl_c_in_the_middle_says_how_to_go_on(servers: tuple[ServerProcess, ServerProcess]) -> None:
    """Where no terminal is, too."""
    source, target = servers
    with lakeward.connect(target.bootstrap) as there, _copying(source, target, LOG, "--cut-over") as process:
        assert eventually(lambda: _copied(there, LOG) > 1000)
        process.send_signal(2)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Start the same command again" in errors
