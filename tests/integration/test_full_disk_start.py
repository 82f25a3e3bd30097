"""A server on a disk that is full, killed and started: it reads, it drops, it says how much to free."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eventually import eventually
from server_process import ServerProcess
from small_disk import SmallDisk, small_disk

import lakeward
from lakeward.errors import ErrorCode


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A small one of this test's own."""
    with small_disk(tmp_path / "disk") as made:
        yield made


def health(server: ServerProcess) -> dict[str, Any]:
    """What the server says of itself."""
    with urllib.request.urlopen(f"http://{server.host}:{server.port}/health") as answer:
        found: dict[str, Any] = json.load(answer)
        return found


@pytest.mark.covering("0.85")
@pytest.mark.parametrize("limit", ["0.85", "1"])
def test_a_server_starts_on_a_full_disk(disk: SmallDisk, limit: str) -> None:
    """It is read-only and says so; tables can be dropped, which makes room; then writes go on by themselves."""
    options = {"server__data_disk__write_limit_ratio": limit}
    with ServerProcess(disk.path / "data", **options) as server:
        server.log_file = disk.path.with_name("server.log")
        with lakeward.connect(server.bootstrap, writer_retries=0) as connection:
            for name in ("kept", "big"):
                table = connection.create_table(f"fluss.{name}", "id INT, word STRING", buckets=1)
                table.append([{"id": i, "word": f"{i} {name}"} for i in range(100)])
            connection.create_table("fluss.keyed", "id INT", primary_key=["id"], buckets=1).upsert([{"id": 1}])
        disk.fill()
        for _ in range(3):
            server.restart(kill=True)
        assert eventually(lambda: health(server)["status"] == "read-only")
        assert "free" in json.dumps(health(server))
        with lakeward.connect(server.bootstrap, writer_retries=0) as connection:
            kept = connection.table("fluss.kept")
            assert kept.scan().to_arrow().num_rows == 100
            assert connection.table("fluss.keyed").lookup([1])["id"].to_pylist() == [1]
            with pytest.raises(lakeward.LakewardError) as refused:
                connection.create_table("fluss.more", "id INT", buckets=1)
            assert refused.value.code is ErrorCode.DISK_WRITE_LOCKED
            with pytest.raises(lakeward.LakewardError):
                list(map(kept.append, [[{"id": 1, "word": "x" * 5000}]] * 200))
            connection.drop_table("fluss.big")
            assert sorted(connection.tables("fluss")) == ["kept", "keyed"]
        server.restart(kill=True)
        assert "Traceback" not in server.log_text
        disk.make_room()
        assert eventually(lambda: health(server)["status"] == "ok"), health(server)
        with lakeward.connect(server.bootstrap, writer_retries=0) as connection:
            assert sorted(connection.tables("fluss")) == ["kept", "keyed"]
            connection.table("fluss.kept").append([{"id": 1, "word": "again"}])
            connection.create_table("fluss.more", "id INT", buckets=1)
