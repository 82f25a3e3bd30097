"""What a server writes is for its owner; what comes from tables cannot command a terminal."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import forked
import pytest
from eventually import eventually
from server_process import ServerProcess

import lakeward
from lakeward.client.staged.parts.directory import LocalDirectory
from lakeward.errors import LakewardError
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.metadata_store.sqlite_store import FILE_NAME, SqliteMetadataStore

_EVIL = "\x1b]0;owned\x07\x1b[31mred\x9b2J"


def _open_to_others(root: Path) -> list[str]:
    return [str(path) for path in (root, *root.rglob("*")) if stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.mark.covering("hash")
@pytest.mark.parametrize("engine", ["hash", "rocksdb"])
def test_all_files_are_the_owners(tmp_path: Path, engine: str) -> None:
    """Segments, indexes, state, snapshots and metadata; and what an older release left is tightened at the start."""
    with ServerProcess(tmp_path / "data", kv__engine=engine, kv__snapshot__interval="300ms") as server:
        with lakeward.connect(server.bootstrap) as connection:
            connection.create_table("fluss.log", "id INT", buckets=1).append([{"id": 1}])
            connection.create_table("fluss.kv", "id INT", primary_key=["id"], buckets=1).upsert([{"id": 1}])
        assert _open_to_others(server.data_dir) == []
        server.stop()
        for path in (server.data_dir, *server.data_dir.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        server.start()
        assert _open_to_others(server.data_dir) == []


def test_remote_files_stay_readable(tmp_path: Path) -> None:
    """Readers fetch history from the directory themselves; only the server's own files there are private."""
    with ServerProcess(
        tmp_path / "data",
        remote__data__dir=str(tmp_path / "remote"),
        remote__log__sync="100ms",
        remote__log__task_interval_duration="50ms",
    ) as server:
        with lakeward.connect(server.bootstrap) as connection:
            connection.create_table("fluss.log", "id INT", buckets=1).append([{"id": 1}])
        assert eventually(lambda: any((tmp_path / "remote" / "log").rglob("*.log")))
        server.stop()
    segments = list((tmp_path / "remote" / "log").rglob("*.log"))
    assert all(path.stat().st_mode & 0o044 for path in segments)
    backups = list((tmp_path / "remote" / "lakeward" / "metadata").iterdir())
    assert backups
    assert not any(path.stat().st_mode & 0o077 for path in backups)


@pytest.mark.parametrize(
    "command",
    [
        ["tables", "describe", "fluss.evil"],
        ["tables", "describe", "fluss.evil", "-o", "json"],
        ["head", "fluss.evil"],
        ["head", "fluss.evil", "-o", "json"],
        ["tables", "describe", f"fluss.{_EVIL}"],
    ],
)
def test_escape_codes_do_not_reach_a_terminal(tmp_path: Path, command: list[str]) -> None:
    """Comments, values and names are written out, in tables, JSON and errors."""
    with ServerProcess(tmp_path / "data") as server:
        with lakeward.connect(server.bootstrap) as connection:
            table = connection.create_table("fluss.evil", "id INT, word STRING", buckets=1, comment=_EVIL)
            table.append([{"id": 1, "word": _EVIL}])
        arguments = [sys.executable, "-m", "lakeward", "--server", server.bootstrap, *command]
        done = forked.run(arguments)
    told = done.stdout + done.stderr
    assert "red" in told
    assert not any(code in told for code in "\x1b\x07\x9b")


def test_what_is_staged_is_the_writers(tmp_path: Path) -> None:
    """Rows that wait in a directory to be written once, with all directories above them that were made for it."""
    there = LocalDirectory(tmp_path / "a" / "b")
    there.create_once("parts/1", [b"row"])
    there.replace("plan", b"plan")
    stream = there.open_new("more/2")
    there.close_durably(stream)
    assert _open_to_others(tmp_path / "a") == []


@pytest.mark.parametrize("key", ["my.db.password", "s3.secret-key", "fs.s3a.access.key", "client.secret", "apiKey"])
def test_a_table_keeps_no_secret(tmp_path: Path, key: str) -> None:
    """Everybody is told a table's properties: a secret is refused with a sentence, all else comes back as it was."""
    ordinary = {"owner": "me", "primary-key-note": "x", "tokenizer": "words", "monkey": "yes"}
    with ServerProcess(tmp_path / "data") as server, lakeward.connect(server.bootstrap) as connection:
        with pytest.raises(LakewardError, match="sounds like a secret"):
            connection.create_table("fluss.t", "id INT", custom_properties={key: "pass"})
        table = connection.create_table("fluss.t", "id INT", custom_properties=ordinary)
        assert dict(table.info.descriptor.custom_properties) == ordinary
        with pytest.raises(LakewardError, match="sounds like a secret"):
            connection.alter_table("fluss.t", set={key: "pass"})
        connection.alter_table("fluss.t", reset=[key])


def test_security_that_an_older_release_stored_is_told(tmp_path: Path) -> None:
    """Nobody believes a server to be closed because it was once told so."""
    with ServerProcess(tmp_path / "data") as server:
        server.stop()
        store = SqliteMetadataStore(LocalFiles(), SystemEntropy(), server.data_dir / FILE_NAME)
        with store.change() as change:
            change.put_option("security.sasl.enabled.mechanisms", "PLAIN")
        store.close()
        server.start()
        assert "'security.sasl.enabled.mechanisms' was set while an older release ran" in server.log_text
