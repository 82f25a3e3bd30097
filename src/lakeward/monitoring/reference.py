"""Writes dashboards, rules and their page from the rows.

`python -m lakeward.monitoring.reference [--check] [DIRECTORY]`; the directory is the project's root.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill

from lakeward.monitoring.alerts import ALERTS
from lakeward.monitoring.dashboards import DASHBOARDS
from lakeward.monitoring.grafana import dashboard_json
from lakeward.monitoring.rules import rules_yaml

_HEAD = """\
# Alerts

Printed from the rows in `src/lakeward/monitoring/alerts.py` by `python -m lakeward.monitoring.reference`; do not edit.
The rules are in `deploy/prometheus/alerts.yaml`, the dashboards in `deploy/grafana`. Metrics are explained on
[a page of their own](metrics.md).
"""


def files() -> Iterator[tuple[Path, str]]:
    """Each file that is made, with what is in it."""
    for dashboard in DASHBOARDS:
        yield Path(f"deploy/grafana/{dashboard.name}.json"), dashboard_json(dashboard)
    yield Path("deploy/prometheus/alerts.yaml"), rules_yaml()
    yield Path("docs/reference/alerts.md"), _page()


def _page() -> str:
    parts = (
        f"## {alert.name}\n\n{fill(alert.meaning, 120)}\n\n{fill(alert.todo, 120)}\n\n"
        f"Severity {alert.severity}; fires when this holds for {alert.patience}:\n\n"
        f"```promql\n{alert.expression(alert.limit)}\n```\n"
        for alert in ALERTS
    )
    return "\n".join((_HEAD, *parts))


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with --check say whether they are up to date."""
    root = Path(next((one for one in arguments if not one.startswith("-")), "."))
    stale = [path for path, text in files() if not _is_same(root / path, text)]
    if "--check" in arguments:
        for path in stale:
            print(f"{path} is not what the rows say: run python -m lakeward.monitoring.reference", file=sys.stderr)  # noqa: T201
        return 1 if stale else 0
    for path, text in files():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return 0


def _is_same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
