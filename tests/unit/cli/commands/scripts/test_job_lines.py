"""Lines of progress."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_query import FakeStreams

from lakeward.cli.commands.scripts.job_lines import JobLines, figures
from lakeward.runtime.clock import ManualClock
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.job_record import StreamProgress
from lakeward.spark.scripts.jobs.jobs import Jobs


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (StreamProgress(), "0 rows, 0 rows/s"),
        (StreamProgress(rows=1, rows_per_s=0.42, lag_rows=0, lag_ms=0), "1 row, 0.4 rows/s, 0 behind"),
        (
            StreamProgress(rows=1200, rows_per_s=3456.7, lag_rows=1500, lag_ms=2300),
            "1,200 rows, 3,457 rows/s, 1,500 behind (2.3 s)",
        ),
        (StreamProgress(rows=2, state_rows=1, late_rows=3), "2 rows, 0 rows/s, state 1 row, 3 too late"),
    ],
)
def test_figures_in_words(progress: StreamProgress, words: str) -> None:
    """What is not known is not told."""
    assert ", ".join(figures(progress)) == words


def test_a_line_comes_now_and_then_and_only_with_news(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One for each job, one for each stream of a set; --watch names sinks."""
    streams, clock = FakeStreams(), ManualClock()
    jobs = Jobs(JobHome(tmp_path))
    jobs.start([streams.plan()], name="copy")
    jobs.start([streams.plan(sink="c.d.a"), streams.plan(sink="c.d.b")], name="set")
    lines = JobLines(clock)
    lines.show(jobs.running)
    assert capsys.readouterr().err.splitlines() == [
        "copy: 0 rows, 0 rows/s",
        "set → c.d.a: 0 rows, 0 rows/s",
        "set → c.d.b: 0 rows, 0 rows/s",
    ]
    lines.show(jobs.running)
    clock.advance(6000)
    lines.show(jobs.running)
    assert capsys.readouterr().err == ""
    streams.queries["copy"].report(0, 7)
    for job in jobs.running:
        job.look()
    clock.advance(6000)
    lines.show(jobs.running)
    assert capsys.readouterr().err.startswith("copy: 7 rows, ")
    with JobLines(clock, is_detailed=True) as detailed:
        detailed.show(jobs.running[:1])
    assert capsys.readouterr().err.startswith("copy → default_catalog.shop.copies: 7 rows")
    jobs.stop()
