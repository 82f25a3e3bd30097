"""What goes on from what."""

from __future__ import annotations

from fake_query import FakeStreams

from lakeward.spark.scripts.jobs.continuity import difference, pairs, refusal, shell_word
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState, StreamRecord
from lakeward.spark.scripts.jobs.stream_plan import StreamPlan


def record(*streams: StreamPlan) -> JobRecord:
    """What is written down of streams."""
    told = tuple(
        StreamRecord(sink=s.sink, text=s.text, sources=s.sources, state=s.state, checkpoint=f"/c/{number}")
        for number, s in enumerate(streams)
    )
    return JobRecord(name="my job", state=JobState.STOPPED, since_ms=0, pid=1, checkpoint="/c", streams=told)


PLAN = FakeStreams().plan


def test_streams_are_paired_by_sink_and_text_then_by_order() -> None:
    """Of two into one table each keeps its own place; a changed one takes what is left."""
    earlier = record(PLAN("one", "a"), PLAN("two", "a"), PLAN("three", "b"))
    found = pairs(earlier, [PLAN("three", "b"), PLAN("changed", "a"), PLAN("one", "a")])
    assert found is not None
    assert [stream.text for stream in found] == ["three", "two", "one"]
    assert pairs(earlier, [PLAN("one", "a"), PLAN("two", "a")]) is None


def test_a_stateless_change_goes_on() -> None:
    """Expressions and filters may change, and the order of sources."""
    before = PLAN("SELECT a FROM s, t", sources=("s", "t"))
    assert refusal(record(before), [PLAN("SELECT b FROM t, s", sources=("t", "s"))]) is None


def test_state_that_is_long_to_describe_is_not_described() -> None:
    """A page of SQL in a sentence helps nobody."""
    why = difference(record(PLAN(state="x" * 100)), [PLAN(state="y" * 100)])
    assert (
        why == "the query into default_catalog.shop.copies keeps state, and was changed in what that state depends on"
    )


def test_a_name_is_told_as_a_shell_takes_it() -> None:
    """What is advised can be copied."""
    told = refusal(record(PLAN(state="x")), [PLAN()])
    assert told is not None
    assert "`lakeward jobs drop 'my job'`" in told
    assert shell_word("copies-1f2e.3d") == "copies-1f2e.3d"
