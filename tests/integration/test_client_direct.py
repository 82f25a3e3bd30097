"""A row at a time in blocking code: on a line of its own, without a difference to be seen but the time it takes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client_rows import fresh
from eventually import eventually
from logins import JAAS
from server_process import ServerProcess

import lakeward
from lakeward.cli.commands.access.dev_authority import DevAuthority
from lakeward.client.cluster.direct_channel import DirectChannel
from lakeward.client.cluster.metadata_cache import MetadataCache
from lakeward.runtime.clock import SystemClock

Asked = list[str]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The questions that went over lines, by name."""
    seen: Asked = []
    ask = DirectChannel.ask

    def watch(self: DirectChannel, api: Any, message: Any) -> Any:
        seen.append(api.name)
        return ask(self, api, message)

    monkeypatch.setattr(DirectChannel, "ask", watch)
    return seen


@pytest.fixture
def conn(server: Any) -> Iterator[lakeward.Connection]:
    """A connection, and a database that goes with it."""
    with lakeward.connect(server.bootstrap) as made:
        made.create_database("client_direct", exist_ok=True)
        yield made
        made.drop_database("client_direct", cascade=True)


def append_until_direct(table: lakeward.Table, asked: Asked) -> int:
    """Rows are appended one by one until one goes over a line; how many they are."""
    count = 0

    def append() -> bool:
        nonlocal count
        table.append([{"id": count}])
        count += 1
        return "PRODUCE_LOG" in asked

    assert eventually(append)
    return count


def ids(table: lakeward.Table) -> list[int]:
    """All rows, as scanned."""
    return table.scan().to_arrow().column("id").to_pylist()


def test_rows_of_one_thread_stay_in_order(conn: lakeward.Connection, asked: Asked) -> None:
    """Rows that went through the event loop, and those that did not, lie in the order of the calls."""
    table = conn.create_table(f"client_direct.{fresh('t')}", "id BIGINT", buckets=1)
    count = append_until_direct(table, asked)
    for number in range(count, count + 20):
        result = table.append({"id": number})
        assert (result.rows, result.batches) == (1, 1)
    assert ids(table) == list(range(count + 20))


@pytest.mark.parametrize("idempotent", [True, False])
def test_an_answer_that_is_lost(
    server: Any, asked: Asked, monkeypatch: pytest.MonkeyPatch, *, idempotent: bool
) -> None:
    """A row whose acknowledgement was lost is stored once, or, by writers without a name, at least once."""
    with lakeward.connect(server.bootstrap, writer_enable_idempotence=idempotent) as conn:
        conn.create_database("client_direct", exist_ok=True)
        table = conn.create_table(f"client_direct.{fresh('t')}", "id BIGINT", buckets=1)
        count = append_until_direct(table, asked)
        receive = DirectChannel._receive

        def lose(self: DirectChannel) -> bytes:
            receive(self)
            monkeypatch.setattr(DirectChannel, "_receive", receive)
            raise ConnectionResetError("cut")

        monkeypatch.setattr(DirectChannel, "_receive", lose)
        forgotten: list[int] = []
        monkeypatch.setattr(MetadataCache, "forget", lambda _, bucket: forgotten.append(bucket.bucket))
        table.append([{"id": count}])
        assert forgotten == [0], "the leader may be another one now"
        table.append([{"id": count + 1}])
        wanted = list(range(count + 2))
        assert ids(table) == (wanted if idempotent else sorted([*wanted, count]))


def test_a_refusal_is_told_as_ever(conn: lakeward.Connection, asked: Asked) -> None:
    """What the server says against a row is what the caller hears, and the next row is taken."""
    path = f"client_direct.{fresh('t')}"
    table = conn.create_table(path, "id BIGINT", buckets=1)
    append_until_direct(table, asked)
    conn.drop_table(path)
    conn.create_table(path, "id BIGINT", buckets=1)
    with pytest.raises(lakeward.NotFoundError, match="dropped and created anew"):
        table.append([{"id": 0}])
    again = conn.table(path)
    again.append([{"id": 1}])
    assert ids(again) == [1]


def test_many_threads(conn: lakeward.Connection, asked: Asked) -> None:
    """Threads that append beside each other lose nothing and write nothing twice."""
    table = conn.create_table(f"client_direct.{fresh('t')}", "id BIGINT", buckets=3)
    count = append_until_direct(table, asked)

    def work(first: int) -> None:
        for number in range(first, first + 50):
            table.append([{"id": number}])

    threads = [threading.Thread(target=work, args=(count + 50 * i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ids(table)) == list(range(count + 600))


def test_lookups(conn: lakeward.Connection, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows found over a line, keys without a row, and an answer that is lost."""
    table = conn.create_table(f"client_direct.{fresh('t')}", "id BIGINT, text STRING", primary_key="id", buckets=2)
    table.upsert([{"id": i, "text": f"row {i}"} for i in range(10)])

    def look_up() -> bool:
        assert table.lookup(3).to_pylist() == [{"id": 3, "text": "row 3"}]
        return "LOOKUP" in asked

    assert eventually(look_up)
    assert table.lookup([7, 2], ["text"]).to_pylist() == [{"text": "row 7"}, {"text": "row 2"}]
    assert table.lookup(99).to_pylist() == [{"id": None, "text": None}]
    assert table.lookup(99, missing="drop").num_rows == 0
    with pytest.raises(lakeward.KeyNotFoundError, match="99"):
        table.lookup(99, missing="raise")
    with pytest.raises(lakeward.InvalidError, match="missing='odd'"):
        table.lookup(3, missing="odd")  # type: ignore[arg-type]

    def lose(_: DirectChannel) -> bytes:
        monkeypatch.undo()
        raise ConnectionResetError("cut")

    monkeypatch.setattr(DirectChannel, "_receive", lose)
    assert table.lookup(4).to_pylist() == [{"id": 4, "text": "row 4"}]


def test_a_server_that_comes_back(tmp_path: Path, asked: Asked) -> None:
    """A line to a server that was killed meanwhile is noticed, and no row is lost or doubled."""
    with ServerProcess(tmp_path / "data") as server, lakeward.connect(server.bootstrap) as conn:
        table = conn.create_table("fluss.t", "id BIGINT", buckets=1)
        count = append_until_direct(table, asked)
        server.kill()
        server.start()
        table.append([{"id": count}])
        assert ids(table) == list(range(count + 1))


def test_a_line_logs_in_and_is_encrypted(tmp_path: Path, asked: Asked) -> None:
    """Where the server asks who one is and encrypts, so does a line."""
    authority = DevAuthority(tmp_path / "certs", SystemClock(), days=2)
    authority.server(("localhost", "127.0.0.1", "::1"))
    options = {
        "security__protocol__map": "FLUSS:SASL_SSL",
        "security__tls__certificate_file": str(authority.path("server")),
        "security__tls__key_file": str(authority.path("server", "key")),
        "security__sasl__plain__jaas__config": JAAS,
    }
    given = {
        "client.security.sasl.mechanism": "SCRAM-SHA-256",
        "client.security.sasl.username": "alice",
        "client.security.sasl.password": "alice-secret",
        "client.security.tls.ca-file": str(authority.path("ca")),
    }
    with ServerProcess(tmp_path / "data", **options) as server, lakeward.connect(server.bootstrap, **given) as conn:
        table = conn.create_table("fluss.t", "id BIGINT", buckets=1)
        count = append_until_direct(table, asked)
        table.append([{"id": count}])
        assert ids(table) == list(range(count + 1))


@pytest.mark.long
def test_a_forked_process_says_so_and_leaves_the_lines_of_its_parent_alone(server: Any) -> None:
    """It would get answers of its parent, and be taken for it by the number of its rows; without a line it hung."""
    program = f"""
import os
import lakeward

conn = lakeward.connect({server.bootstrap!r})
conn.create_database("client_direct", exist_ok=True)
log = conn.create_table({f"client_direct.{fresh('log')}"!r}, "id BIGINT", buckets=1)
keyed = conn.create_table({f"client_direct.{fresh('keyed')}"!r}, "id BIGINT, v INT", primary_key="id", buckets=1)
keyed.upsert([{{"id": 1, "v": 1}}])
for number in range(50):
    log.append([{{"id": number}}])
    keyed.lookup(1)
half = log.scan(end=None).follow()
next(half)
writer = log.writer()

child = os.fork()
if not child:
    for work in (
        lambda: log.append([{{"id": -1}}]), lambda: keyed.lookup(1), lambda: log.scan().to_arrow(), conn.databases,
        lambda: writer.write([{{"id": -1}}]), lambda: next(half),
    ):
        try:
            print(work())
        except lakeward.InvalidError as told:
            assert "was forked; connect here" in str(told)
    half.close()
    conn.close()
    with lakeward.connect({server.bootstrap!r}) as own:
        own.table(log.path).append([{{"id": 50}}])
    os._exit(0)

print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
log.append([{{"id": 51}}])
print(keyed.lookup(1)["v"].to_pylist(), log.scan().to_arrow()["id"].to_pylist() == list(range(52)))
half.close()
conn.close()
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0\n[1] True\n", "")
