"""Windows: where Spark cuts them, and where that is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_engine import PlanEngine, log, plan, refusal, sql

from lakeward.language.plan.shape.relation import EventTime


def _engine(zone: str) -> PlanEngine:
    return PlanEngine(replace(log("logins", "id at", "at"), time=EventTime("at", is_ntz=False, zone=zone)))


def _query(size: str) -> str:
    return (
        f"SELECT TUMBLE_START(at, INTERVAL {size}) AS s, COUNT(*) AS n FROM logins GROUP BY TUMBLE(at, INTERVAL {size})"
    )


@pytest.mark.parametrize(
    ("zone", "size"), [("UTC", "'1' DAY"), ("Europe/Berlin", "'1' HOUR"), ("+02:00", "'30' MINUTE")]
)
def test_windows_that_begin_there_too_run(zone: str, size: str) -> None:
    """An hour begins in Berlin when it begins in UTC."""
    assert "window(logins.__time" in sql(plan(_query(size), _engine(zone)).tree)


@pytest.mark.parametrize(
    ("zone", "size"), [("Europe/Berlin", "'1' DAY"), ("Asia/Kolkata", "'1' HOUR"), ("+02:00", "'1' DAY")]
)
def test_windows_that_begin_elsewhere_are_refused(zone: str, size: str) -> None:
    """A day of Berlin does not begin at midnight in UTC."""
    assert f"not where such a window begins in {zone}" in refusal(_query(size), _engine(zone))[1]


def test_the_last_moment_of_a_window_is_one_value() -> None:
    """`at - window_time` does not take the parts of window_time one by one."""
    rows = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(at), INTERVAL '1' MINUTE))"
    assert "at - (window(" in sql(plan(f"SELECT at - window_time AS left FROM {rows}").tree).replace("clicks.", "")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("SELECT COUNT(*) FROM clicks GROUP BY TUMBLE(at, INTERVAL '1' MONTH)", "cannot be measured in MONTH"),
        ("SELECT COUNT(*) FROM clicks GROUP BY TUMBLE(at)", "TUMBLE takes (time, size)"),
        ("SELECT COUNT(*) FROM clicks GROUP BY SESSION(at, INTERVAL '1' MINUTE)", "needs a further column in GROUP BY"),
        ("SELECT g, COUNT(*) FROM plain GROUP BY g, SESSION(v, INTERVAL '1' MINUTE)", "needs a WATERMARK"),
        (
            "SELECT 1 FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(at), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))",
            "CUMULATE does not run on a stream",
        ),
    ],
)
def test_what_is_no_window_of_spark_is_refused(query: str, sentence: str) -> None:
    """With what to say instead."""
    assert sentence in refusal(query)[1]
