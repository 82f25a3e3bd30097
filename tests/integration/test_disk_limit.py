"""A disk that is nearly full: writes stop with an error of their own, reads go on, writes too when there is room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fluss
import pyarrow as pa
import pytest
from eventually import eventually
from pyfluss_session import Session
from server_process import ServerProcess
from small_disk import SmallDisk, small_disk

import lakeward
from lakeward.errors import ErrorCode

_LEFT_BYTES = 2 << 20
_ROWS = [{"id": i, "name": f"n{i}"} for i in range(100)]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A small one of this test's own."""
    with small_disk(tmp_path / "disk") as made:
        yield made


@pytest.fixture
def server(disk: SmallDisk) -> Iterator[ServerProcess]:
    """A server that keeps all it has on the small disk, with the limits that everybody has."""
    process = ServerProcess(disk.path / "data")
    process.log_file = disk.path.with_name("server.log")
    with process:
        yield process


def is_locked(write: Any) -> bool:
    """Whether a write is refused because the disk is nearly full."""
    try:
        write()
    except lakeward.RetriableError as wrong:
        return wrong.code is ErrorCode.DISK_WRITE_LOCKED and "data-disk.write-limit-ratio" in wrong.message
    return False


def test_writes_stop_and_go_on(server: ServerProcess, disk: SmallDisk) -> None:
    """Beyond the limit puts and appends are refused and reads answered; with room both are taken, with no help."""
    with lakeward.connect(server.bootstrap, writer_retries=0) as connection:
        log = connection.create_table("fluss.log", "id INT, name STRING", buckets=1)
        state = connection.create_table("fluss.state", "id INT, name STRING", primary_key=["id"], buckets=1)
        log.append(_ROWS)
        state.upsert(_ROWS)
        disk.fill(but_bytes=_LEFT_BYTES)
        for write in (lambda: log.append(_ROWS[:1]), lambda: state.upsert(_ROWS[:1])):
            assert eventually(lambda write=write: is_locked(write)), server.log_text[-4000:]
        before = len(log.scan().to_arrow())
        assert before >= 100
        assert state.lookup([99])["name"].to_pylist() == ["n99"]
        assert is_locked(lambda: log.append(_ROWS))
        assert len(log.scan().to_arrow()) == before
        disk.make_room()
        for write in (lambda: log.append(_ROWS), lambda: state.upsert(_ROWS)):
            assert eventually(lambda write=write: not is_locked(write)), server.log_text[-4000:]
        assert len(log.scan().to_arrow()) == before + 100
    assert server.log_text.count("no writes until it is below 80 %") == 1


@pytest.mark.oracle
async def test_the_official_client_fails_clearly(server: ServerProcess, disk: SmallDisk) -> None:
    """pyfluss does not know the code: it says so at once, with our sentence, and writes again when there is room."""
    async with await Session.open(server.bootstrap, "fluss") as session:
        table = await session.create("events", pa.schema([("id", pa.int32())]))
        writer = table.new_append().create_writer()

        async def refusal() -> fluss.FlussError | None:
            try:
                await writer.append({"id": 1}).wait()
            except fluss.FlussError as wrong:
                return wrong
            return None

        assert await refusal() is None
        disk.fill(but_bytes=_LEFT_BYTES)
        while (refused := await refusal()) is None:
            pass
        assert refused.error_code == ErrorCode.UNKNOWN_SERVER_ERROR.value
        assert "no writes until" in str(refused)
        disk.make_room()
        while await refusal() is not None:
            pass
