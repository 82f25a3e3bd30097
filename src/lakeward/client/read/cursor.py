"""Cursor: how far one bucket has been read by a scan."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.client.admin.offsets import Place
from lakeward.rpc.channel import Channel


@dataclass(slots=True, eq=False)
class Cursor:
    """How far one bucket has been read."""

    place: Place
    next_offset: int
    end_offset: int | None
    caught_up: bool = False
    whole_rows: bool = False
    channel: Channel | None = None
    failures: int = 0

    @property
    def done(self) -> bool:
        """Whether nothing is left to read."""
        return self.end_offset is not None and self.next_offset >= self.end_offset
