"""Jobs, with queries that only pretend: names, checkpoints, what goes on and what does not."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from eventually import eventually
from fake_query import FakeQuery, FakeStreams

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.backoff import Backoff
from lakeward.spark.scripts.jobs import job as job_module
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.job_record import JobState
from lakeward.spark.scripts.jobs.jobs import Jobs

OTHER_TEXT = "INSERT INTO copies SELECT id, upper(name) FROM orders"


@pytest.fixture
def home(tmp_path: Path) -> JobHome:
    """A home of jobs of the test's own."""
    return JobHome(tmp_path / "state")


@pytest.fixture
def streams() -> FakeStreams:
    """Plans of streams that pretend."""
    return FakeStreams()


def test_a_job_is_named_after_sink_and_text(home: JobHome, streams: FakeStreams) -> None:
    """The same statement has the same name in any run; another one has another."""
    first = Jobs(home).start([streams.plan()], name=None, script=None)
    first.stop()
    again = Jobs(home).start([streams.plan()], name=None, script=None)
    other = Jobs(home).start([streams.plan(OTHER_TEXT)], name=None, script=None)
    assert first.name.startswith("copies-")
    assert (again.name, again.is_continued) == (first.name, True)
    assert (other.name != first.name, other.is_continued) == (True, False)


@pytest.mark.parametrize("other", [{"into": "shop.two"}, {"sources": ("shop.two",)}])
def test_the_same_text_about_other_tables_is_another_job(
    home: JobHome, streams: FakeStreams, other: dict[str, Any]
) -> None:
    """Two scripts may say the same of tables that only have the same names in them; one script is told."""
    first = Jobs(home, script="/one.sql").start([streams.plan()], name=None)
    second = Jobs(home, script="/two.sql").start([streams.plan(**other)], name=None)
    assert (second.name != first.name, second.is_continued) == (True, False)
    first.stop()
    with pytest.raises(LakewardError, match="cannot go on from its checkpoint"):
        Jobs(home, script="/one.sql").start([streams.plan(**other)], name=None)


def test_a_job_goes_on_from_the_same_checkpoint(home: JobHome, streams: FakeStreams) -> None:
    """Stopped and started again, it is given the same place."""
    for _ in range(3):
        Jobs(home).start([streams.plan()], name="copy", script="a.sql").stop()
    assert streams.checkpoints == [str(home.folder("copy") / "checkpoint" / "copies")] * 3


def test_a_job_that_runs_is_not_started_twice(home: JobHome, streams: FakeStreams) -> None:
    """The second is told which process runs it, and since when."""
    job = Jobs(home).start([streams.plan()], name="copy", script=None)
    with pytest.raises(
        LakewardError, match=rf"'copy' is running already, in process {os.getpid()} since 20.*jobs stop"
    ):
        Jobs(home).start([streams.plan()], name="copy", script=None)
    job.stop()
    Jobs(home).start([streams.plan()], name="copy", script=None).stop()


def test_a_stateless_job_goes_on_with_another_text(home: JobHome, streams: FakeStreams) -> None:
    """What it reads is the same; its record has the new text."""
    Jobs(home).start([streams.plan()], name="copy", script=None).stop()
    job = Jobs(home).start([streams.plan(OTHER_TEXT)], name="copy", script=None)
    assert (job.is_continued, job.is_changed) == (True, True)
    record = home.read("copy")
    assert record is not None
    assert record.texts == (OTHER_TEXT,)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"sources": ("localhost:9123/shop.refunds",)}, "it read .*shop.orders, and now would read .*shop.refunds"),
        ({"sink": "default_catalog.shop.others"}, "it wrote into .*shop.copies, and now would into .*shop.others"),
        (
            {"into": "shop.other, made today"},
            "it wrote into .*, and now that is another table \\(shop.other, made today",
        ),
        ({"state": "GROUP BY id"}, "keeps state \\(GROUP BY id\\), and the one before kept none"),
    ],
)
def test_a_changed_query_that_cannot_go_on_is_told_so(
    home: JobHome, streams: FakeStreams, changed: dict[str, Any], told: str
) -> None:
    """Nothing is started; three ways out are named; with the old text it goes on."""
    Jobs(home).start([streams.plan()], name="copy", script=None).stop()
    with pytest.raises(LakewardError, match=told) as refused:
        Jobs(home).start([streams.plan(**changed)], name="copy", script=None)
    assert all(way in refused.value.message for way in ("old text back", "'pipeline.name'", "lakeward jobs drop copy"))
    assert len(streams.checkpoints) == 1
    assert Jobs(home).start([streams.plan()], name="copy", script=None).is_continued


def test_a_job_that_never_read_anything_may_become_another(home: JobHome, streams: FakeStreams) -> None:
    """A first attempt that failed before its first batch stands in nobody's way."""

    def refuse(checkpoint: str, name: str) -> FakeQuery:
        raise ErrorCode.TABLE_NOT_EXIST.error("There is no such table.")

    with pytest.raises(LakewardError, match="no such table"):
        Jobs(home).start([streams.plan(start=refuse)], name="copy", script=None)
    failed = home.read("copy")
    assert failed is not None
    assert (failed.state, failed.error) == (JobState.FAILED, "There is no such table.")
    job = Jobs(home).start([streams.plan(state="GROUP BY id")], name="copy", script=None)
    assert not job.is_continued


def test_a_changed_statement_of_a_script_goes_on_under_its_old_name(home: JobHome, streams: FakeStreams) -> None:
    """Without a name of its own it is known by script, sink and order; it does not begin from the start."""
    first = Jobs(home).start([streams.plan()], name=None, script="/a.sql")
    first.stop()
    changed = Jobs(home).start([streams.plan(OTHER_TEXT)], name=None, script="/a.sql")
    changed.stop()
    again = Jobs(home).start([streams.plan(OTHER_TEXT)], name=None, script="/a.sql")
    assert [changed.name, again.name] == [first.name] * 2
    assert again.is_continued


def test_a_changed_statement_of_a_script_that_cannot_go_on_is_refused(home: JobHome, streams: FakeStreams) -> None:
    """It would read everything a second time otherwise."""
    Jobs(home).start([streams.plan(state="SUM by id")], name=None, script="/a.sql").stop()
    with pytest.raises(LakewardError, match="kept state for SUM by id, and the changed one needs state for MAX by id"):
        Jobs(home).start([streams.plan(OTHER_TEXT, state="MAX by id")], name=None, script="/a.sql")


def test_two_statements_into_one_table_are_two_jobs(home: JobHome, streams: FakeStreams) -> None:
    """Each goes on under its own name when the script is run again, changed or not."""
    first = Jobs(home)
    names = [first.start([streams.plan(t)], name=None, script="/a.sql").name for t in ("one", "two")]
    first.stop()
    second = Jobs(home)
    again = [second.start([streams.plan(t)], name=None, script="/a.sql").name for t in ("one", "changed")]
    assert len(set(names)) == 2
    assert again == names


def test_a_new_statement_before_an_old_one_is_a_new_job(home: JobHome, streams: FakeStreams) -> None:
    """It does not take the old one's place, whose text is still in the script."""
    Jobs(home, script="/a.sql", texts=["old"]).start([streams.plan("old")], name=None).stop()
    jobs = Jobs(home, script="/a.sql", texts=["new", "old"])
    added, kept = (jobs.start([streams.plan(text)], name=None) for text in ("new", "old"))
    assert (added.is_continued, kept.is_continued) == (False, True)


def test_a_name_for_several_statements_is_numbered(home: JobHome, streams: FakeStreams) -> None:
    """SET 'pipeline.name' holds until it is reset; every job still has a checkpoint of its own."""
    for _ in range(2):
        jobs = Jobs(home)
        for sink in ("c.d.one", "c.d.two", "c.d.three"):
            jobs.start([streams.plan(sink=sink)], name="nightly", script="/a.sql")
        assert [job.name for job in jobs.running] == ["nightly", "nightly-2", "nightly-3"]
        jobs.stop()


def test_a_statement_set_is_one_job_of_several_streams(home: JobHome, streams: FakeStreams) -> None:
    """Each stream has its own checkpoint, and finds it again when the order changed."""
    plans = [streams.plan("one", "c.d.a"), streams.plan("two", "c.d.b"), streams.plan("three", "c.d.b")]
    job = Jobs(home).start(plans, name="set", script=None)
    assert list(streams.queries) == ["set/a", "set/b", "set/b.2"]
    job.stop()
    begun = dict(zip(["one", "two", "three"], streams.checkpoints, strict=True))
    del streams.checkpoints[:]
    Jobs(home).start([plans[2], plans[0], plans[1]], name="set", script=None).stop()
    assert streams.checkpoints == [begun["three"], begun["one"], begun["two"]]


def test_a_job_fails_with_its_first_stream(home: JobHome, streams: FakeStreams) -> None:
    """The other streams of the set are stopped, the record says why, other jobs go on."""
    jobs = Jobs(home)
    job = jobs.start([streams.plan(sink="c.d.a"), streams.plan(sink="c.d.b")], name="set", script=None)
    other = jobs.start([streams.plan()], name="copy", script=None)
    streams.queries["set/a"].fail("Traceback …\nlakeward.errors.InvalidError: The table is full. SQLSTATE: 38000")
    assert eventually(lambda: job.state is not JobState.RUNNING)
    record = home.read("set")
    assert record is not None
    assert (record.state, record.error) == (JobState.FAILED, "The table is full.")
    assert not streams.queries["set/b"].isActive
    assert jobs.running == [other]
    with pytest.raises(LakewardError, match="'set' failed: The table is full"):
        job.await_end()


_BUSY = "Python worker failed to connect back."


@pytest.mark.long
def test_a_machine_that_is_too_busy_is_given_another_chance(
    home: JobHome, streams: FakeStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark gives up on slow Python processes after ten seconds: such a job goes on by itself, many times."""
    monkeypatch.setattr(job_module, "_PAUSES", Backoff(0.01, 0.02))
    monkeypatch.setattr(job_module, "_RESTARTS_MAX", 3)
    job = Jobs(home).start([streams.plan()], name="copy")
    for lives in range(1, 5):
        assert job.state is JobState.RUNNING
        streams.queries["copy"].fail(_BUSY)
        assert eventually(lambda lives=lives: len(streams.checkpoints) > lives or lives == 4)  # type: ignore[misc]
    assert eventually(lambda: job.state is JobState.FAILED)
    assert streams.checkpoints == [streams.checkpoints[0]] * 4


def test_a_job_that_rests_starts_after_its_pause_and_can_be_stopped(
    home: JobHome, streams: FakeStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at once: ten that come back together make the machine as busy as before."""
    monkeypatch.setattr(job_module, "_PAUSES", Backoff(600.0, 600.0))
    job = Jobs(home).start([streams.plan()], name="copy")
    streams.queries["copy"].fail(_BUSY)
    job.look()
    job.look()
    assert (job.state, len(streams.checkpoints)) == (JobState.RUNNING, 1)
    job.stop()
    assert (job.state, job.error) == (JobState.STOPPED, None)


def test_a_start_that_fails_after_a_pause_is_told(
    home: JobHome, streams: FakeStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job does not stay as if it ran."""
    monkeypatch.setattr(job_module, "_PAUSES", Backoff(0.01, 0.01))
    queries: list[FakeQuery] = []

    def start(checkpoint: str, name: str) -> FakeQuery:
        if queries:
            raise ErrorCode.TABLE_NOT_EXIST.error("There is no such table.")
        queries.append(FakeQuery(checkpoint, name))
        return queries[0]

    job = Jobs(home).start([streams.plan(start=start)], name="copy")
    queries[0].fail(_BUSY)
    assert eventually(lambda: job.state is JobState.FAILED)
    assert job.error == "There is no such table."


def test_the_command_that_begins_anew_is_named(home: JobHome, streams: FakeStreams) -> None:
    """A capture only says that its stream must."""
    job = Jobs(home).start([streams.plan()], name="copy")
    streams.queries["copy"].fail("lakeward.errors.X: The slot is gone. Start the stream anew, without its checkpoint.")
    assert eventually(lambda: job.state is JobState.FAILED)
    assert job.error is not None
    assert job.error.endswith("To begin anew: `lakeward jobs drop copy`, and run it again.")


def test_a_bounded_job_ends_by_itself(home: JobHome, streams: FakeStreams) -> None:
    """When all was read and nothing is under way; run again it goes on from there."""
    plan = streams.plan(is_finished=lambda report: report["sink"] == "all")
    job = Jobs(home).start([plan], name="copy", script=None)
    query = streams.queries["copy"]
    query.is_busy = True
    query.report(0, 5, sink="all")
    assert not job.await_end(1.2)
    query.is_busy = False
    assert job.await_end(30)
    assert (job.state, job.progress()[0].rows) == (JobState.FINISHED, 5)
    assert not home.is_held("copy")


def test_a_file_asks_one_job_to_stop(home: JobHome, streams: FakeStreams) -> None:
    """Others of the same process go on; the next run is not stopped by an old request."""
    jobs = Jobs(home)
    asked, other = (jobs.start([streams.plan()], name=name, script=None) for name in ("one", "two"))
    home.ask_to_stop("one")
    assert asked.await_end(30)
    assert (asked.state, other.state) == (JobState.STOPPED, JobState.RUNNING)
    home.ask_to_stop("one")
    again = Jobs(home).start([streams.plan()], name="one", script=None)
    assert not again.await_end(1.2)


def test_what_is_being_started_while_all_are_stopped_is_stopped_too(home: JobHome, streams: FakeStreams) -> None:
    """It is waited for; what would be started after it is not."""
    jobs, entered = Jobs(home), threading.Event()

    def start(checkpoint: str, name: str) -> FakeQuery:
        entered.set()
        time.sleep(0.3)
        return FakeQuery(checkpoint, name)

    starting = threading.Thread(target=lambda: jobs.start([streams.plan(start=start)], name="slow"))
    starting.start()
    entered.wait()
    jobs.close()
    starting.join()
    assert [(job.name, job.state) for job in jobs.started] == [("slow", JobState.STOPPED)]
    with pytest.raises(LakewardError, match="No more jobs are started"):
        jobs.start([streams.plan()], name="late")


def test_checkpoints_go_where_they_are_told_to_go(home: JobHome, streams: FakeStreams, tmp_path: Path) -> None:
    """And stay there in later runs; another place is refused, since the job would begin anew there."""
    elsewhere = tmp_path / "elsewhere"
    Jobs(home, checkpoints=str(elsewhere)).start([streams.plan()], name="copy", script=None).stop()
    Jobs(home).start([streams.plan()], name="copy", script=None).stop()
    assert streams.checkpoints == [str(elsewhere / "copy" / "copies")] * 2
    with pytest.raises(LakewardError, match=f"checkpoint at {elsewhere}/copy, not at {tmp_path}/third/copy"):
        Jobs(home).start([streams.plan()], name="copy", script=None, checkpoints=str(tmp_path / "third"))
    (tmp_path / "third").mkdir()
    (elsewhere / "copy").rename(tmp_path / "third" / "copy")
    job = Jobs(home).start([streams.plan()], name="copy", script=None, checkpoints=str(tmp_path / "third"))
    assert job.is_continued


def test_a_checkpoint_that_is_gone_is_missed(home: JobHome, streams: FakeStreams) -> None:
    """Without a word the job would read everything again."""
    Jobs(home).start([streams.plan()], name="copy", script=None).stop()
    (home.folder("copy") / "checkpoint").rename(home.folder("copy") / "away")
    with pytest.raises(LakewardError, match=r"is gone: there is no .*checkpoint\..*jobs drop copy"):
        Jobs(home).start([streams.plan()], name="copy", script=None)


def test_a_damaged_checkpoint_is_named(home: JobHome, streams: FakeStreams) -> None:
    """Which file, and what to do; nothing is started."""
    Jobs(home).start([streams.plan()], name="copy", script=None).stop()
    file = home.folder("copy") / "checkpoint" / "copies" / "offsets" / "0"
    file.write_text("v1\n{")
    with pytest.raises(LakewardError, match=rf"'copy' is damaged: {file} was not written to its end.*jobs drop copy"):
        Jobs(home).start([streams.plan()], name="copy", script=None)
    assert len(streams.checkpoints) == 1


def test_spark_s_word_for_another_query_becomes_ours(home: JobHome, streams: FakeStreams) -> None:
    """What the planner could not foresee ends in the same advice."""
    job = Jobs(home).start([streams.plan(state="s")], name="copy", script=None)
    streams.queries["copy"].fail("[STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE] Provided key schema is not compatible.")
    assert eventually(lambda: job.state is JobState.FAILED)
    assert job.error is not None
    assert "cannot go on from its checkpoint with a changed query" in job.error
    assert "lakeward jobs drop copy" in job.error


def test_an_unwritable_home_says_so(home: JobHome, streams: FakeStreams, tmp_path: Path) -> None:
    """Before anything is started, with the place and another way."""
    (tmp_path / "state").write_text("a file where a directory should be")
    for name in ("copy", None):
        with pytest.raises(LakewardError, match=r"state/jobs: .*LAKEWARD_STATE"):
            Jobs(home).start([streams.plan()], name=name, script=None)
    assert streams.checkpoints == []


def test_a_torn_record_says_which_and_what_to_do(home: JobHome, streams: FakeStreams) -> None:
    """Without it nobody knows what the checkpoint is of; without the file the checkpoint decides."""
    Jobs(home).start([streams.plan()], name="copy", script=None).stop()
    record = home.folder("copy") / "record.json"
    record.write_bytes(record.read_bytes()[:40])
    with pytest.raises(LakewardError, match=rf"{record}: the record .* damaged.*Remove the file.*jobs drop copy"):
        Jobs(home).start([streams.plan()], name="copy", script=None)
    record.unlink()
    assert Jobs(home).start([streams.plan()], name="copy", script=None).is_continued


def test_secrets_are_not_written_down(home: JobHome, streams: FakeStreams) -> None:
    """Nor do they change the name."""
    texts = [f"INSERT INTO t SELECT * FROM s /*+ OPTIONS('sasl.password' = '{p}') */" for p in ("hush", "hash")]
    names = set()
    for text in texts:
        job = Jobs(home).start([streams.plan(text)], name=None, script=None)
        names.add(job.name)
        job.stop()
    assert len(names) == 1
    written = (home.folder(names.pop()) / "record.json").read_text()
    assert "hush" not in written
    assert "hash" not in written
    assert json.loads(written)["streams"][0]["text"].endswith("('sasl.password' = '******') */")
