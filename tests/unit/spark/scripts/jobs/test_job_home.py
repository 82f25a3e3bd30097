"""Where jobs are written down."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakeward.errors import LakewardError
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState, StreamProgress, StreamRecord


def record(name: str, checkpoint: str = "/nowhere") -> JobRecord:
    """A job that copies orders."""
    progress = StreamProgress(rows=7, rows_per_s=1.5, lag_rows=3)
    stream = StreamRecord(
        sink="c.d.copies", text="INSERT …", sources=("s/d.orders",), state="", checkpoint="x", progress=progress
    )
    return JobRecord(
        name=name, state=JobState.RUNNING, since_ms=1, pid=2, checkpoint=checkpoint, streams=(stream,), script="/a.sql"
    )


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Whatever the job is called."""
    home = JobHome(tmp_path)
    names = ["plain", "with space", "../up", "a/b", ".hidden", "Ü", "x" * 300, "a%2Fb"]
    for name in names:
        home.write(record(name))
    assert [home.read(name) for name in names] == [record(name) for name in names]
    assert sorted(r.name for r in home.records() if isinstance(r, JobRecord)) == sorted(names)
    assert {path.parent for path in (tmp_path / "jobs").rglob("record.json")} == {home.folder(name) for name in names}


def test_records_are_for_their_owner(tmp_path: Path) -> None:
    """A statement may say more than others should know."""
    home = JobHome(tmp_path / "state")
    home.write(record("copy"))
    assert (home.folder("copy") / "record.json").stat().st_mode & 0o77 == 0
    assert home.folder("copy").stat().st_mode & 0o77 == 0


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    """Until it is given back."""
    home = JobHome(tmp_path)
    assert not home.is_held("copy")
    lock = home.lock("copy")
    assert lock is not None
    assert home.is_held("copy")
    assert home.lock("copy") is None
    os.close(lock)
    assert not home.is_held("copy")


def test_a_dropped_job_leaves_nothing(tmp_path: Path) -> None:
    """Neither its record nor its checkpoint, wherever that is on this machine."""
    home = JobHome(tmp_path / "state")
    elsewhere = tmp_path / "elsewhere" / "copy"
    elsewhere.mkdir(parents=True)
    home.write(record("copy", str(elsewhere)))
    home.drop("copy")
    assert home.records() == []
    assert list((tmp_path / "elsewhere").iterdir()) == []
    home.drop("copy")


def test_a_torn_record_is_told_among_the_others(tmp_path: Path) -> None:
    """The others are still there, and it can be dropped."""
    home = JobHome(tmp_path)
    for name in ("one", "two"):
        home.write(record(name))
    (home.folder("one") / "record.json").write_text("{")
    torn, whole = home.records()
    assert isinstance(torn, LakewardError)
    assert "one/record.json: the record of a job cannot be read (it is damaged" in torn.message
    assert whole == record("two")
    home.drop("one")
    assert home.records() == [record("two")]


@pytest.mark.parametrize(
    ("environment", "home"),
    [
        ({"LAKEWARD_STATE": "/x", "XDG_STATE_HOME": "/y"}, "/x/jobs/copy"),
        ({"XDG_STATE_HOME": "/y"}, "/y/lakeward/jobs/copy"),
        ({}, f"{Path.home()}/.local/state/lakeward/jobs/copy"),
    ],
)
def test_the_environment_says_where(environment: dict[str, str], home: str) -> None:
    """Ours first, then the desktop's, then the usual place."""
    assert str(JobHome.of_environment(environment).folder("copy")) == home
