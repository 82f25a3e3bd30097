"""Every row there is."""

from __future__ import annotations

import re

import pytest

from lakeward.options.server import SERVER_OPTIONS
from lakeward.options.table import TABLE_OPTIONS
from lakeward.telemetry.rows.every_row import EVERY_ROW
from lakeward.telemetry.rows.metric_row import MetricRow

OPTION = re.compile(r"'([a-z]+\.[a-z0-9.-]+)'")


@pytest.mark.parametrize("row", EVERY_ROW.values(), ids=EVERY_ROW)
def test_what_a_row_names_is_there(row: MetricRow) -> None:
    """Options that somebody is told to change exist."""
    for key in OPTION.findall(f"{row.meaning} {row.what_to_do}"):
        assert key in SERVER_OPTIONS.rows or key in TABLE_OPTIONS.rows, key
