"""Rows for metrics: what is shown, and where it is sent."""

from __future__ import annotations

from lakeward.options.kinds import COUNT
from lakeward.options.option import OptionTable, Scope

METRICS_OPTIONS = OptionTable(Scope.SERVER)
_row = METRICS_OPTIONS.row

TABLES_MAX = _row(
    "metrics.tables.max",
    COUNT,
    2000,
    "Tables that metrics show one by one; those created later are shown together (Lakeward).",
)
