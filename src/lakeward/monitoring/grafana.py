"""A dashboard as Grafana imports it: JSON, with the data source left open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lakeward.monitoring.panel import Dashboard, Panel

#: The version of the form; Grafana brings an older one up to date by itself.
_SCHEMA_VERSION = 39
_COLUMNS = 24
_SOURCE = {"type": "prometheus", "uid": "${source}"}
#: Units of metrics → how Grafana writes them.
_UNITS: Mapping[str, str] = {
    "bytes": "bytes",
    "bytes/s": "Bps",
    "seconds": "s",
    "ratio": "percentunit",
    "unix seconds": "dateTimeFromNow",
}


def dashboard_json(dashboard: Dashboard) -> str:
    """The whole file."""
    document = {
        "uid": f"lakeward-{dashboard.name}",
        "title": dashboard.title,
        "tags": ["lakeward"],
        "schemaVersion": _SCHEMA_VERSION,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-30m", "to": "now"},
        "templating": {"list": list(_variables(dashboard))},
        "panels": list(_panels(dashboard)),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _variables(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    yield {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    for label, metric in dashboard.filters:
        yield {
            "name": label,
            "label": label,
            "type": "query",
            "datasource": _SOURCE,
            "query": {"query": f"label_values({metric}, {label})", "refId": label},
            "refresh": 2,
            "includeAll": True,
            "allValue": ".*",
            "multi": True,
            "current": {"text": "All", "value": "$__all"},
        }


def _panels(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    x = y = row_height = 0
    for number, panel in enumerate(dashboard.panels, 1):
        width, height = (4, 4) if panel.is_figure else (8, 7)
        if x + width > _COLUMNS or (x and height != row_height):
            x, y = 0, y + row_height
        yield _panel(number, panel, {"x": x, "y": y, "w": width, "h": height})
        x, row_height = x + width, height


def _panel(number: int, panel: Panel, place: Mapping[str, int]) -> dict[str, Any]:
    first = panel.queries[0]
    return {
        "id": number,
        "type": "stat" if panel.is_figure else "timeseries",
        "title": panel.title,
        "description": f"{first.row.meaning} {first.row.what_to_do}".strip(),
        "datasource": _SOURCE,
        "gridPos": dict(place),
        "fieldConfig": {"defaults": {"unit": _UNITS.get(first.unit, "short"), "min": 0}, "overrides": []},
        "options": {} if panel.is_figure else {"tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "expr": query.text,
                "legendFormat": query.legend,
                "datasource": _SOURCE,
            }
            for index, query in enumerate(panel.queries)
        ],
    }
