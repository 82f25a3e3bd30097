"""PartitionInfo: a partition that exists."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.model.partition import SEPARATOR


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """A partition that exists. Its name is its values joined with `$`, in the order of the keys."""

    partition_id: int
    table_id: int
    name: str
    created_ms: int

    @property
    def values(self) -> tuple[str, ...]:
        """One value per partition key."""
        return tuple(self.name.split(SEPARATOR))
