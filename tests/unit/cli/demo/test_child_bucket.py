"""The S3 server of the demo, before it starts."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from lakeward.cli.demo import child_bucket
from lakeward.cli.demo.child_bucket import ChildBucket
from lakeward.cli.input.failures import Failure


def test_without_the_program_one_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made in the directory before."""
    monkeypatch.setattr(child_bucket.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match=r"pip install 'lakeward\[s3-demo\]'"):
        ChildBucket(tmp_path / "demo").__enter__()
    assert not (tmp_path / "demo").exists()


def test_two_demos_do_not_share_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is told so; the first one's files are not touched."""
    monkeypatch.setattr(child_bucket, "_program", lambda: "weed")
    monkeypatch.setattr(child_bucket, "_LAST_ONE_S", 0.1)
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Failure, match="Another demo is running in"):
            ChildBucket(tmp_path).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
