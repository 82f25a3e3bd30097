"""Prints docs/reference/metrics.md from the rows.

`python -m lakeward.telemetry.reference [--check] [PATH]`
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill

from lakeward.telemetry.rows.every_row import SERVER_TABLES, SERVICE_TABLES
from lakeward.telemetry.rows.metric_row import Kind, MetricRow, MetricTable

PAGE = Path("docs/reference/metrics.md")

_HEAD = """\
# Metrics

Printed from the rows in `src/lakeward/telemetry/rows` by `python -m lakeward.telemetry.reference`; do not edit.

A server shows its metrics at `GET /metrics` on every listener, as text for Prometheus, and can send them elsewhere: see
[the guide](../guides/metrics.md). Names are stable; a metric that counts up since the start ends in `_total`. A
histogram has `_bucket`, `_sum` and `_count`, a summary quantiles.
"""


def page() -> str:
    """The whole page."""
    return "".join((_HEAD, *(line for table in (*SERVER_TABLES, *SERVICE_TABLES) for line in _section(table))))


def _section(table: MetricTable) -> Iterator[str]:
    yield f"\n## {table.title}\n\n{fill(table.shown_by, 120, break_long_words=False, break_on_hyphens=False)}\n"
    yield "\n| metric | type | unit | labels | meaning | what to do |\n|---|---|---|---|---|---|\n"
    yield from map(_line, table)


def _line(row: MetricRow) -> str:
    labels = ", ".join(f"`{label}`" for label in row.labels) or "–"
    kind = f"{row.kind} ({', '.join(f'{share:g}' for share in row.bounds)})" if row.kind is Kind.SUMMARY else row.kind
    return f"| `{row.name}` | {kind} | {row.unit} | {labels} | {row.meaning} | {row.what_to_do} |\n"


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with --check say whether it is what would be written."""
    check = "--check" in arguments
    paths = [Path(argument) for argument in arguments if argument != "--check"]
    path = paths[0] if paths else PAGE
    if check and not (path.is_file() and path.read_text(encoding="utf-8") == page()):
        sys.stderr.write(f"{path} is not up to date; run python -m lakeward.telemetry.reference\n")
        return 1
    if not check:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
