"""The table: what was promised, what was measured, the bad figures too."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import psutil

_DOCS = Path(__file__).parent.parent / "docs"
PAGE = _DOCS / "benchmarks.md"
SPARK_PAGE = _DOCS / "benchmarks-spark.md"
TIERING_PAGE = _DOCS / "benchmarks-tiering.md"
UNION_PAGE = _DOCS / "benchmarks-union.md"
KAFKA_PAGE = _DOCS / "benchmarks-kafka.md"
REMOTE_PAGE = _DOCS / "benchmarks-remote.md"
FAIRNESS_PAGE = _DOCS / "benchmarks-fairness.md"
SECURITY_PAGE = _DOCS / "benchmarks-security.md"


@dataclass(frozen=True)
class Line:
    """One promise. `ratio` is judged against `limit`; None where the peer was not there to compare with."""

    work: str
    ours: str
    theirs: str
    promise: str
    ratio: float | None
    limit: float
    at_least: bool = True

    @property
    def verdict(self) -> str:
        """Whether the promise was kept in this run."""
        if self.ratio is None:
            return "not compared"
        kept = self.ratio >= self.limit if self.at_least else self.ratio <= self.limit
        return f"{self.ratio:.2f} {'✓' if kept else '✗'}"


def markdown(
    lines: list[Line],
    date: str,
    rounds: int,
    notes: list[str],
    *,
    title: str = "Benchmarks",
    peer: str = "Apache Fluss",
) -> str:
    """The page."""
    memory_gb = psutil.virtual_memory().total / 2**30
    machine = f"{psutil.cpu_count()} cores, {memory_gb:.0f} GB, Python {platform.python_version()}"
    head = [
        f"# {title}",
        "",
        f"`make bench`, {date}, {machine}. Client and server share the machine.",
        f"A figure is the median of {rounds} round{'s' * (rounds != 1)}; both sides run in each, one after the other.",
        "Compare within the table: absolute figures move by ±30 % from run to run.",
        "",
        f"| work | Lakeward | {peer} | promised | measured |",
        "|---|---|---|---|---|",
    ]
    body = [f"| {x.work} | {x.ours} | {x.theirs} | {x.promise} | {x.verdict} |" for x in lines]
    said = [
        fill(f"- {note}", 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) for note in notes
    ]
    return "\n".join([*head, *body, "", *said, ""])
