"""SchemaChanges: what a pipeline does when a table of its source is altered."""

from __future__ import annotations

import enum


class SchemaChanges(enum.StrEnum):
    """What a pipeline does when a table of its source is altered."""

    EVOLVE = "evolve"
    TRY_EVOLVE = "try_evolve"
    LENIENT = "lenient"
    IGNORE = "ignore"
    EXCEPTION = "exception"
