"""What clients of `lakeward serve --tablets` see while all of it starts again."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from eventually import eventually
from pyfluss_session import Session
from server_process import ServerProcess
from wire_client import WireClient

import lakeward
from lakeward.cli.main import cli
from lakeward.errors import LakewardError, RetriableError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import MetadataRequest, PbTableMetadata
from lakeward.protocol.messages.shared import PbTablePath

_TABLES = 50


class Asker(threading.Thread):
    """Asks one server for the last of the tables, over and over, through its deaths."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self.ended = threading.Event()
        self.refusals: list[LakewardError] = []
        self.answers = 0

    def run(self) -> None:
        """Until it is told to end."""
        path = PbTablePath(database_name="fluss", table_name=f"t{_TABLES - 1}")
        while not self.ended.is_set():
            try:
                with WireClient.of(self._address) as client:
                    while not self.ended.is_set():
                        found = client.call(Api.GET_METADATA, MetadataRequest(table_path=(path,)))
                        assert found.coordinator_server is not None
                        self.answers += 1
            except LakewardError as wrong:
                self.refusals.append(wrong)
            except (OSError, EOFError):
                time.sleep(0.002)


@pytest.mark.long
def test_no_table_is_denied_while_all_starts_again(tmp_path: Path) -> None:
    """A server that has not heard of its tables yet does not say that they are not there; whoever waits is served."""
    with ServerProcess(tmp_path / "data", tablets=2) as server:
        with lakeward.connect(server.bootstrap) as conn:
            for number in range(_TABLES):
                conn.create_table(f"fluss.t{number}", "id BIGINT", buckets=1)
        askers = [Asker(f"localhost:{server.port + number}") for number in range(3)]
        for one in askers:
            one.start()
        server.restart(kill=True)
        server.restart()
        time.sleep(0.5)
        for one in askers:
            before = one.answers
            one.ended.set()
            one.join(30)
            assert not [wrong for wrong in one.refusals if not isinstance(wrong, RetriableError)]
            assert one.answers >= before > 0


def test_our_client_goes_on(tmp_path: Path) -> None:
    """Rows are written and looked up by a client that outlives a kill and a stop of all servers."""
    with (
        ServerProcess(tmp_path / "data", tablets=2) as server,
        lakeward.connect(server.bootstrap, away_timeout="1 min") as conn,
    ):
        table = conn.create_table("fluss.t", "id BIGINT NOT NULL, n BIGINT", primary_key="id", buckets=4)
        for kill in (True, False):
            again = threading.Thread(target=server.restart, kwargs={"kill": kill})
            again.start()
            number = 0
            while again.is_alive() or number < 100:
                number += 1
                table.upsert([{"id": one, "n": number} for one in range(8)])
                assert table.lookup(list(range(8))).column("n").to_pylist() == [number] * 8
            again.join()


@pytest.mark.long
@pytest.mark.oracle
def test_the_official_client_goes_on(tmp_path: Path) -> None:
    """Rows are looked up by pyfluss through a kill."""
    asyncio.run(_look_up_by_pyfluss(tmp_path))


async def _look_up_by_pyfluss(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data", tablets=2) as server:
        with lakeward.connect(server.bootstrap) as conn:
            table = conn.create_table("fluss.t", "id BIGINT NOT NULL, n BIGINT", primary_key="id", buckets=4)
            table.upsert([{"id": one, "n": one} for one in range(8)])
        session = await Session.open(server.bootstrap, "fluss")
        lookuper = (await session.table("t")).new_lookup().create_lookuper()
        again = asyncio.create_task(asyncio.to_thread(server.restart, kill=True))
        turns = 0
        while not again.done() or turns < 3:
            turns += 1
            found = await asyncio.gather(*(lookuper.lookup({"id": one}) for one in range(8)))
            assert [row["n"] for row in found] == list(range(8))
        await again


@pytest.mark.oracle
def test_the_official_client_goes_on_writing_when_a_leader_is_killed(tmp_path: Path) -> None:
    """Its buckets are never said to have no leader: pyfluss would neither write to them nor ask again, for ever."""
    asyncio.run(_write_by_pyfluss(tmp_path))


async def _write_by_pyfluss(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data", tablets=2) as server, lakeward.connect(server.bootstrap) as conn:
        table = conn.create_table("fluss.t", "id BIGINT", buckets=1)
        (leader,) = {one.leader_id for one in _described(server).bucket_metadata}
        session = await Session.open(server.bootstrap, "fluss")
        writer = (await session.table("t")).new_append().create_writer()
        await writer.append({"id": 0}).wait()
        (pid,) = re.findall(rf"tablet server {leader} is there \(process (\d+)\)", server.log_text)
        os.kill(int(pid), signal.SIGKILL)
        for number in range(1, 4):
            await asyncio.wait_for(writer.append({"id": number}).wait(), 60)
            assert {one.leader_id for one in _described(server).bucket_metadata} == {leader}
        await asyncio.wait_for(session.connection.close(), 60)
        assert table.scan().to_arrow().column("id").to_pylist() == [0, 1, 2, 3]


def _described(server: ServerProcess) -> PbTableMetadata:
    with WireClient.of(server.bootstrap) as client:
        asked = MetadataRequest(table_path=(PbTablePath(database_name="fluss", table_name="t"),))
        (found,) = client.call(Api.GET_METADATA, asked).table_metadata
        assert isinstance(found, PbTableMetadata)
        return found


def test_a_tablet_server_that_is_away_is_seen(tmp_path: Path) -> None:
    """The coordinator's health names it until it is back; the doctor finds all processes of one server in order."""
    with ServerProcess(tmp_path / "data", tablets=2) as server:

        def health() -> dict[str, object]:
            with urllib.request.urlopen(f"http://{server.bootstrap}/health") as page:
                found: dict[str, object] = json.load(page)
            return found

        assert (health()["status"], health()["tablet_servers"]) == ("ok", {"size": 2, "away": [], "returns": 0})
        examined = CliRunner().invoke(cli, ["doctor", "-s", server.bootstrap, "--data-dir", str(tmp_path / "data")])
        assert "processes are in" not in examined.output
        (pid,) = re.findall(r"tablet server 1 is there \(process (\d+)\)", server.log_text)
        os.kill(int(pid), signal.SIGKILL)
        assert eventually(lambda: health()["status"] == "incomplete")
        assert eventually(lambda: health()["status"] == "ok", within_s=30)
        assert health()["tablet_servers"] == {"size": 2, "away": [], "returns": 1}
