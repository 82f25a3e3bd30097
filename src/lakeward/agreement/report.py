"""What was compared of a table, and where it does not agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lakeward.client.forms.results import BucketId
from lakeward.model.table import TablePath

#: Differences of one kind that are told of a bucket; the others are counted.
SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two tellings of a table differ, or where one cannot be read."""

    table: str
    bucket: BucketId
    #: Whose telling it is: `log`, `state` or `lake`.
    where: str
    what: str
    remedy: str
    offset: int | None = None
    key: str | None = None
    file: str | None = None

    def __str__(self) -> str:
        places = [f"bucket {self.bucket}"]
        places += [] if self.offset is None else [f"offset {self.offset}"]
        places += [] if self.key is None else [f"key {self.key}"]
        places += [] if self.file is None else [f"file {self.file}"]
        return f"{self.table}, {', '.join(places)}: {self.what}. {self.remedy}"


@dataclass(slots=True)
class TableReport:
    """One table: how much was read, what was compared, what differs."""

    path: TablePath
    buckets: int = 0
    log_rows: int = 0
    #: Rows, by key where there is one, that say the same in the changelog and the state, in the log and the lake.
    state_rows: int | None = None
    lake_rows: int | None = None
    snapshot_id: int | None = None
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be compared. The log is read in any case."""

    state: bool = True
    lake: bool = True


#: Told what is being read, and how many rows of it so far.
Progress = Callable[[str, int], None]


def ignore_progress(_what: str, _rows: int) -> None:
    """For who does not watch."""
