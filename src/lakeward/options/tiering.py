"""Rows for the tiering of one table that Apache Fluss has no name for.

They are custom properties, which every cluster keeps and none of Apache's looks at: set by ALTER_TABLE, obeyed by our
coordinator, and where the coordinator is Apache's, by the tiering service itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.options.kinds import BOOL, INT64_MAX, integer
from lakeward.options.option import Option, Scope

PAUSED = Option(
    "lakeward.tiering.paused",
    BOOL,
    default=False,
    doc="Whether no new round of tiering begins by the clock; a round under way ends as usual.",
    scope=Scope.TABLE,
    dynamic=True,
)
REQUESTED_MS: Option[int | None] = Option(
    "lakeward.tiering.requested",
    integer(low=0, high=INT64_MAX),
    None,
    "When, in milliseconds since 1970, somebody asked for a round at once; a new value asks again.",
    Scope.TABLE,
    dynamic=True,
)


def check_tiering_properties(custom: Mapping[str, str]) -> None:
    """Refuse values that cannot be read."""
    PAUSED.read(custom)
    REQUESTED_MS.read(custom)
