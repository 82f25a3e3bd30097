"""`lakeward verify` on files: a byte that is another one is found and named, wherever it lies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from damage import flip
from eventually import eventually
from server_process import ServerProcess

import lakeward
from lakeward.cli.main import cli

OPTIONS = {
    "log.segment.file-size": "2kb",
    "log.index.interval-size": "100b",
    "kv.snapshot.interval": "100ms",
    "remote.log.task-interval-duration": "100ms",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a stopped server with segments, indexes and snapshots, and what it copied away."""
    root = tmp_path_factory.mktemp("files")
    server = ServerProcess(root / "data")
    server.options = OPTIONS | {"remote.data.dir": str(root / "remote")}
    with server, lakeward.connect(server.bootstrap) as conn:
        users = conn.create_table("fluss.users", "id INT NOT NULL, name STRING", primary_key="id", buckets=1)
        for number in range(40):
            users.upsert([{"id": i, "name": f"{number}-{i}"} for i in range(20)])
        assert eventually(lambda: any((root / "remote").rglob("_METADATA")))
        assert eventually(lambda: len(list((root / "remote").rglob("*.timeindex"))) > 2)
        assert eventually(lambda: any((root / "data").glob("*/*/kv-0/snapshot-*/manifest.json")))
        server.stop()
    return root


@pytest.fixture
def files(written: Path, tmp_path: Path) -> Path:
    """A copy of them that may be damaged."""
    return Path(shutil.copytree(written, tmp_path / "files"))


def verified(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """The exit code and the document."""
    done = CliRunner().invoke(cli, ["verify", *map(str, arguments), "-o", "json"])
    assert done.stdout, done.output
    return done.exit_code, json.loads(done.stdout)


def some(paths: list[Path], number: int = 0) -> Path:
    """One that has bytes."""
    return [path for path in sorted(paths) if path.stat().st_size][number]


def test_files_that_are_whole_are_said_to_be_whole(written: Path) -> None:
    """Here and in remote storage."""
    code, here = verified("--data-dir", written / "data")
    assert (code, here["damaged"]) == (0, [])
    code, there = verified("--remote", written / "remote")
    assert (code, there["damaged"]) == (0, [])
    assert there["segments"] > 2


@pytest.mark.parametrize(
    ("what", "pattern", "position"),
    [
        ("log", "*/*/log-0/*.log", 60),
        ("index", "*/*/log-0/*.index", 3),
        ("index", "*/*/log-0/*.index", 7),
        ("index", "*/*/log-0/*.timeindex", 6),
        ("snapshot", "*/*/kv-0/snapshot-*/*", 1),
        ("metadata", "metadata.db", 500),
        ("metadata", "metadata.copies/*.db", 500),
    ],
)
def test_a_flipped_byte_is_named(files: Path, what: str, pattern: str, position: int) -> None:
    """With what it is and the file; the exit code is 1."""
    path = some(list((files / "data").glob(pattern)))
    flip(path, position)
    code, found = verified("--data-dir", files / "data")
    assert code == 1
    named = [row for row in found["damaged"] if row["what"] == what]
    assert any(row["file"] in str(path) for row in named), found
    told = CliRunner().invoke(cli, ["verify", "--data-dir", str(files / "data")])
    assert "damaged place" in told.stderr


@pytest.mark.parametrize(
    ("what", "pattern", "position"),
    [("segment", "log/*/*/0/*/*.log", 60), ("index", "log/*/*/0/*/*.index", 3), ("snapshot", "kv/*/*/0/shared/*", 9)],
)
def test_a_flipped_byte_in_remote_storage_is_named(files: Path, what: str, pattern: str, position: int) -> None:
    """By the object that it is in; one that is gone is missed."""
    remote = files / "remote"
    found = list(remote.glob(pattern)) or list(remote.glob("kv/*/*/0/snap-*/[0-9a-f]*"))
    path = some(found, -1)
    flip(path, position)
    code, told = verified("--remote", remote)
    assert code == 1
    assert {row["what"] for row in told["damaged"]} == {what}
    if what == "segment":
        path.unlink()
        assert [row["reason"] for row in verified("--remote", remote)[1]["damaged"]] == ["it is missing"]


def test_forms_that_do_not_go_together_are_refused(written: Path) -> None:
    """State and lake are compared where a server runs."""
    runner = CliRunner()
    data = ["--data-dir", str(written / "data")]
    assert runner.invoke(cli, ["verify", *data, "--lake"]).exit_code == 2
    assert runner.invoke(cli, ["verify", *data, "--remote", "x"]).exit_code == 2
