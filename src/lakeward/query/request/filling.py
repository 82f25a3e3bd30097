"""A table that is being filled from another, by a renaming or a replacement: it is not read before it has all rows.

The protocol cannot give a table another name, so its rows are copied, and until the last one is there the table says
whose rows it is waiting for.
"""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo

#: Written into a table while rows go into it: the table that has them all.
FILLED_FROM = "lakeward.filled-from"


def check_filled(info: TableInfo) -> None:
    """Refuse to read a table that has a part of its rows only."""
    source = info.descriptor.custom_properties.get(FILLED_FROM)
    if source is not None:
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {info.path} is being filled from {source}, or that was interrupted, and has not all its rows yet;"
            f" if nobody is at work any more, drop {info.path}, and ALTER TABLE {source} RENAME TO {info.path} brings"
            " them."
        )
