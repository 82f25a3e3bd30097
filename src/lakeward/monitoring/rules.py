"""The alerts as a file of rules for Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from lakeward.monitoring.alerts import ALERTS, Alert

_HEAD = (
    "# Written from the rows in src/lakeward/monitoring by `python -m lakeward.monitoring.reference`; do not edit.\n"
)
_PAGE = "docs/reference/alerts.md"


def rules_yaml(limits: Mapping[str, float] | None = None, *, is_patient: bool = True) -> str:
    """The whole file. `limits` replace those of some alerts by name; without patience they fire at once."""
    rules = [_rule(alert, (limits or {}).get(alert.name, alert.limit), is_patient) for alert in ALERTS]
    return _HEAD + yaml.safe_dump(
        {"groups": [{"name": "lakeward", "rules": rules}]}, sort_keys=False, allow_unicode=True, width=120
    )


def _rule(alert: Alert, limit: float, is_patient: bool) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "expr": alert.expression(limit),
        "for": alert.patience if is_patient else "0s",
        "labels": {"severity": alert.severity},
        "annotations": {"summary": alert.summary, "description": alert.todo, "page": f"{_PAGE}#{alert.name.lower()}"},
    }
