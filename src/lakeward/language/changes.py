"""Changes: what the rows of a stream are."""

from __future__ import annotations

import enum

#: The column that says what a row of a changelog is: insert, update_before, update_after or delete.
CHANGE_TYPE = "_change_type"


class Changes(enum.Enum):
    """What a stream's rows are."""

    APPEND = "rows are only added"
    CHANGELOG = "rows are changes; each has a change type, and an update says what was before"
    UPSERT = "rows are changes by key; an update does not say what was before"
