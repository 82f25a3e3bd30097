"""A line for each change."""

from __future__ import annotations

from pathlib import Path

from pipeline_events import HISTORY, SinkBench


def test_lines_have_the_mark_of_their_change(tmp_path: Path) -> None:
    """In their order, with the columns that there are by then."""
    bench = SinkBench("type: print, print.identifier: seen", tmp_path)
    bench.batch(1, HISTORY[1])
    assert bench.lines == [
        "seen> public.lines -U[0, 1, a]",
        "seen> public.lines +U[0, 1, x]",
        "seen> public.lines -D[0, 2, b]",
        "seen> public.lines -U[0, 3, c]",
        "seen> public.lines +U[0, 9, c]",
        "seen> public.lines +I[5, 5, n, 7]",
    ]
