"""A data directory that is moved away under a server: nothing is written under its old name, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from eventually import eventually
from server_process import ServerProcess

import lakeward


def is_refused(server: ServerProcess) -> bool:
    """Whether the server takes no rows now, and says that it is for its directory."""
    with lakeward.connect(server.bootstrap, writer_retries=0) as connection:
        try:
            connection.table("fluss.words").append([{"id": 2}])
        except lakeward.LakewardError as wrong:
            return "moved, removed or replaced" in str(wrong)
    return False


@pytest.mark.parametrize("tablets", [0, 1])
def test_a_server_whose_directory_was_moved_writes_nothing_and_says_so(tmp_path: Path, tablets: int) -> None:
    """Rows are refused, a stop in order is told to be none, and the directory has all that was acknowledged."""
    home, away = tmp_path / "data", tmp_path / "away"
    with ServerProcess(home, tablets=tablets) as server:
        with lakeward.connect(server.bootstrap) as connection:
            connection.create_table("fluss.words", "id INT", buckets=1).append([{"id": 1}])
        home.rename(away)
        assert eventually(lambda: is_refused(server))
        assert server.stop() == 1
        assert not home.exists()
        assert "was moved, removed or replaced while the server ran" in server.log_text
        assert "Traceback" not in server.log_text
        away.rename(home)
        server.start()
        with lakeward.connect(server.bootstrap) as connection:
            assert 1 in connection.table("fluss.words").scan().to_arrow()["id"].to_pylist()
