"""The blocking door to primary key tables: the same names without await."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from keyed_tables import by_id, rows

import lakeward


@pytest.fixture
def table(server: Any, database: str) -> Iterator[lakeward.Table]:
    """A table with two buckets."""
    with lakeward.connect(server.bootstrap) as connection:
        yield connection.create_table(
            f"{database}.blocking", "id BIGINT, name STRING, price DOUBLE", primary_key=["id"], buckets=2
        )


def test_rows_in_and_out(table: lakeward.Table) -> None:
    """Upsert, look up, delete, snapshot, changelog, head, count."""
    assert table.upsert(rows(1, 2, 3)).rows == 3
    assert table.upsert(pa.Table.from_pylist(rows(4))).rows == 1
    assert table.upsert({"id": 4, "price": 2.0}, columns=["id", "price"]).rows == 1
    assert table.lookup([4, 9]).to_pylist() == [
        {"id": 4, "name": "row 4", "price": 2.0},
        {"id": None, "name": None, "price": None},
    ]
    assert table.delete([1, 9]).rows == 2
    assert by_id(table.snapshot()) == {2: "row 2", 3: "row 3", 4: "row 4"}
    assert sum(b.num_rows for b in table.snapshot_batches()) == table.count() == 3
    assert table.head(2).num_rows == 2
    changes = table.changelog().to_pandas()
    assert sorted(changes["_change_type"]) == sorted(["+I"] * 4 + ["-U", "+U", "-D"])


_INTERRUPTED = """
import os, signal, sys
import lakeward

class CtrlC:
    came = False

    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[3] and not CtrlC.came:
            CtrlC.came = True
            os.kill(os.getpid(), signal.SIGINT)

with lakeward.connect(sys.argv[1]) as connection:
    table = connection.table(sys.argv[2])
    sys.meta_path.insert(0, CtrlC())
    try:
        table.upsert([{"id": 1, "name": "row 1", "price": 1.0}])
        table.lookup([1])
    except KeyboardInterrupt:
        assert "lakeward.client.forms.data_forms" in sys.modules
        print("stopped", table.lookup([1])["name"].to_pylist())
"""


@pytest.mark.parametrize("loading", ["pyarrow.lib", "numba.np"])
def test_a_first_call_that_is_stopped_leaves_the_next_one_whole(
    server: Any, table: lakeward.Table, loading: str
) -> None:
    """It loads libraries, which cannot be loaded again once they are left half-loaded; a notebook goes on."""
    table.upsert(rows(1))
    program = [sys.executable, "-c", _INTERRUPTED, server.bootstrap, str(table.path), loading]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("stopped ['row 1']\n", "")


def test_a_pipelined_upserter(table: lakeward.Table) -> None:
    """Generators are iterated on the caller's thread; leaving the block acknowledges everything."""
    threads = set()

    def generate() -> Iterator[dict[str, Any]]:
        for i in range(500):
            threads.add(threading.current_thread())
            yield rows(i)[0]

    with table.upserter() as upserter:
        upserter.upsert(generate())
        upserter.delete(range(100))
        upserter.flush()
        assert upserter.written == upserter.result().rows == 600
        upserter.upsert(rows(0))
    assert threads == {threading.current_thread()}
    assert table.count() == 401


def test_an_upserter_that_is_left_by_an_error_gives_up(table: lakeward.Table) -> None:
    """The error is the caller's own; nothing hangs."""

    def fail() -> None:
        with table.upserter(linger_ms=10_000) as upserter:
            upserter.upsert(rows(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert table.count() == 0


def test_looking_up_from_many_threads(table: lakeward.Table) -> None:
    """A table may be shared between threads."""
    table.upsert(rows(*range(100)))
    found: dict[int, list[int]] = {}

    def look(first: int) -> None:
        for i in range(first, 100, 4):
            found[i] = table.lookup(i)["id"].to_pylist()

    threads = [threading.Thread(target=look, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: [i] for i in range(100)}
