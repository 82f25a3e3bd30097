"""Rows of the format `raw`, by the names that other systems have for them."""

from __future__ import annotations

from lakeward.options.kinds import choice
from lakeward.options.option import OptionTable, Scope

RAW_OPTIONS = OptionTable(Scope.CONNECTOR)
CHARSET = RAW_OPTIONS.row("raw.charset", choice("UTF-8"), "UTF-8", "How texts are written.")
ENDIANNESS = RAW_OPTIONS.row(
    "raw.endianness", choice("big-endian", "little-endian"), "big-endian", "Which byte of a number comes first."
)
