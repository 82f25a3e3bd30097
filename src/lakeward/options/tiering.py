"""Rows for the tiering of one table that Apache Fluss has no name for.

They are custom properties, which every cluster keeps and none of Apache's looks at: set by ALTER_TABLE, obeyed by our
coordinator, and where the coordinator is Apache's, by the tiering service itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.options.kinds import INT64_MAX, TEXT, integer
from lakeward.options.option import OptionTable, Scope
from lakeward.options.table import LAKE_FORMATS

TIERING_OPTIONS = OptionTable(Scope.TABLE)

PAUSED = TIERING_OPTIONS.switch(
    "lakeward.tiering.paused",
    "Whether no new round of tiering begins by the clock; a round under way ends as usual.",
    dynamic=True,
)
REQUESTED_MS = TIERING_OPTIONS.optional(
    "lakeward.tiering.requested",
    integer(low=0, high=INT64_MAX),
    "When, in milliseconds since 1970, a round was asked for that is to begin at once; a new value asks again.",
    dynamic=True,
)
SKIP_LOST = TIERING_OPTIONS.switch(
    "lakeward.tiering.skip-lost",
    "Whether the next round goes on after rows that retention removed before they were tiered; reset by that round.",
    dynamic=True,
)
SKIP_DAMAGED = TIERING_OPTIONS.optional(
    "lakeward.tiering.skip-damaged",
    TEXT,
    "Ranges of offsets that tiering passes over, `bucket:first-end` or `partition/bucket:first-end` with commas between"
    " them; set by `lakeward skip`, reset by the round that has passed them.",
    dynamic=True,
)
DEAD_LETTER_TABLE = TIERING_OPTIONS.optional(
    "lakeward.tiering.dead-letter-table",
    TEXT,
    "The table that rows go to which do not fit into the lake; without it such a row fails the table.",
    dynamic=True,
)

LAKE_WAREHOUSE = TIERING_OPTIONS.optional(
    "lakeward.lake.warehouse",
    TEXT,
    "Where the table's lake is: written down before the first round. A service or reader that names another place is"
    " told, unless the table is there too.",
    dynamic=True,
)
LATE_LAKE_FORMAT = TIERING_OPTIONS.optional(
    "lakeward.lake.format",
    LAKE_FORMATS,
    "The lake format of a table without 'table.datalake.format', whose keys keep the encoding they have.",
    dynamic=True,
)


def check_tiering_properties(custom: Mapping[str, str]) -> None:
    """Refuse values that cannot be read."""
    for option in TIERING_OPTIONS:
        option.read(custom)
