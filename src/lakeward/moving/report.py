"""What was copied of a table, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from lakeward.client.forms.results import BucketId
from lakeward.model.table import TablePath

#: How a table was copied: batch by batch, change by change, or its rows as they are and then what changed.
Way = Literal["log", "changelog", "state"]


@dataclass(slots=True)
class BucketSums:
    """Rows of one bucket on both sides, and whether they are the same ones."""

    bucket: BucketId
    source_rows: int
    target_rows: int
    source_sum: int
    target_sum: int
    #: Where they differ first, if that can be said.
    where: str | None = None

    @property
    def same(self) -> bool:
        """Whether counts and checksums agree."""
        return (self.source_rows, self.source_sum) == (self.target_rows, self.target_sum)


@dataclass(frozen=True, slots=True)
class BucketEnds:
    """Where one bucket's log ends on both sides."""

    bucket: BucketId
    source_end: int
    target_end: int

    @property
    def is_foreign(self) -> bool:
        """Whether the target has more than the source."""
        return self.target_end > self.source_end


@dataclass(slots=True)
class TableReport:
    """One table."""

    path: TablePath
    way: Way = "log"
    created: bool = False
    buckets: int = 0
    #: Rows and bytes that this run has copied.
    rows: int = 0
    bytes: int = 0
    #: Rows that the source has and the target lacks, when last looked; None when that could not be asked.
    behind: int | None = 0
    #: Whether a row has the same offset on both sides.
    same_offsets: bool = True
    lake: str | None = None
    notes: list[str] = field(default_factory=list)
    sums: list[BucketSums] | None = None
    #: Buckets that should end at the same offset on both sides, and do not.
    ends: list[BucketEnds] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Whether both sides were found not to be the same."""
        return bool(self.differences or self.ends)

    @property
    def differences(self) -> list[BucketSums]:
        """The buckets that are not the same."""
        return [one for one in self.sums or () if not one.same]

    def note(self, text: str) -> None:
        """Something to be known, said once."""
        if text not in self.notes:
            self.notes.append(text)


#: Told what is being done with which table, how many rows more were done, and how many are left (None: not known).
Watch = Callable[[TablePath, str, int, int | None], None]


def ignore(_path: TablePath, _what: str, _rows: int, _left: int | None) -> None:
    """For who does not watch."""
