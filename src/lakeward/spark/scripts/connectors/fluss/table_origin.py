"""Which table it is, whatever address its cluster has: one that is dropped and made again is another."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeward.model.table import TableInfo


def origin_of(info: TableInfo) -> str:
    """Name and birth of a table, for people and for comparing."""
    made = datetime.fromtimestamp(info.created_ms / 1000, UTC)
    return f"{info.path}, made {made:%Y-%m-%d %H:%M:%S}.{info.created_ms % 1000:03}Z"
