"""What was asked of a tail."""

from __future__ import annotations

from lakeward.console.pages.live.tail_form import AGO_MS, STARTS, tail_form
from lakeward.model.data_types import parse_type
from lakeward.model.schema import Column, Schema
