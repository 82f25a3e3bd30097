"""What every lake format offers. A driver holds a LakeTable; tasks hold writers that need no catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from lakeward.lake.round_properties import RoundProperties
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo, TablePath


@dataclass(frozen=True, slots=True)
class LakeSnapshot:
    """What the lake holds of a table: every bucket up to, not including, its offset."""

    snapshot_id: int
    committed_ms: int
    #: None: made by a tiering service that keeps its offsets in a document beside the lake, at `offsets_path`.
    offsets: Mapping[TableBucket, int] | None
    offsets_path: str | None
    tiering_epoch: int | None
    properties: Mapping[str, str]
    #: What the table holds in all, where the format counts it.
    total_rows: int | None = None
    total_bytes: int | None = None
    #: The snapshot that a tiering service made, where this one was built upon it by others (a compaction, an append).
    round_id: int | None = None


@dataclass(frozen=True, slots=True)
class LakePlace:
    """Where rows belong: one bucket of the table or of one of its partitions, by the values in its name."""

    bucket: int
    partition_values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What one task has written: rows, bytes, files, and the format's own record of them."""

    rows: int
    file_bytes: int
    files: int
    record: bytes


@dataclass(frozen=True, slots=True)
class LakeDeletes:
    """A file that names rows of data files by position: they are no longer there."""

    path: str
    rows: int


@dataclass(frozen=True, slots=True)
class LakeEqualityDeletes:
    """A file of values: rows of a data file that have the same in these columns are no longer there."""

    path: str
    rows: int
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A data file, and the files of deletes that may hold something about it."""

    path: str
    rows: int
    bytes: int
    deletes: tuple[LakeDeletes, ...] = ()
    equality_deletes: tuple[LakeEqualityDeletes, ...] = ()
    #: Its rows only count together with those of the other such files of its place: newer ones of a key replace older.
    is_merged: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of a column in a file: no value lies outside; None: not known."""

    low: Any = None
    high: Any = None
    nulls: int | None = None
    values: int | None = None


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A file of a snapshot, where its rows belong, and the bounds of the columns that were asked about."""

    place: LakePlace
    file: LakeFile
    bounds: Mapping[str, Bounds] = field(default_factory=dict)


class LakeReader(Protocol):
    """The lake's table as it was when this was opened: its snapshots, their files, the rows of a file."""

    def snapshots(self) -> list[LakeSnapshot]:
        """Those that say how far each bucket is, newest first; commits of others count as of the round below them."""
        ...

    def history(self) -> list[LakeSnapshot]:
        """Every snapshot that is still there, newest first, whoever made it; without how far the buckets are."""
        ...

    def tags(self) -> Mapping[str, LakeSnapshot]:
        """Names that people gave to snapshots; those may be older than the ones that `snapshots` still knows."""
        ...

    def files(self, snapshot_id: int, bounds_of: Iterable[str] = ()) -> list[PlacedFile]:
        """The live files of a snapshot, with the bounds of some columns."""
        ...

    @property
    def merges(self) -> bool:
        """Whether the files of a place only make sense together: one may hold newer rows of keys of another."""
        ...

    def rows(self, files: Sequence[LakeFile], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The live rows of files of one place, in these columns and types; columns that a file lacks are NULL."""
        ...


@runtime_checkable
class Readable(Protocol):
    """What a LakeTable offers to readers."""

    def reader(self, info: TableInfo) -> LakeReader:
        """The table as it is now; `info` is ours."""
        ...


class LakeWriter(Protocol):
    """Writes the rows of one place, in the order of the log.

    Rows of a primary key table carry `_change_type` as well; the last change of a key wins.
    """

    def write(self, rows: pa.RecordBatch) -> None:
        """Take rows with the table's columns and the system columns, in this order."""
        ...

    def finish(self) -> WriteResult:
        """Close the files; nothing is visible before they are committed."""
        ...

    def abort(self) -> None:
        """Remove what was written."""
        ...


class LakeTable(Protocol):
    """A table in the lake, seen from the driver."""

    def latest(self) -> LakeSnapshot | None:
        """The newest snapshot that a tiering service made, straight from the lake."""
        ...

    def writing(self, places: Sequence[LakePlace]) -> list[bytes]:
        """What the task of each place needs to open a writer, without asking a catalog."""
        ...

    def commit(self, written: Sequence[bytes], round_: RoundProperties, after: int | None) -> LakeSnapshot:
        """Make a round visible, at once and whole, if the tiering snapshot `after` is still the newest one.

        Otherwise LakeConflictError, and nothing has changed.
        """
        ...

    def discard(self, written: Sequence[bytes]) -> None:
        """Remove the files of a round that will not be committed."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
    """Files, those of deletes among them, and their bytes."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.files + other.files, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a full compaction has done, or, where nothing was written, would do."""

    #: Buckets of partitions whose files are not as few as they could be.
    places: int = 0
    #: The files that go, and those that came in their place.
    before: Tally = field(default_factory=Tally)
    after: Tally = field(default_factory=Tally)
    #: What of `before` are files of deletes, which are no more.
    deletes: int = 0
    #: The last snapshot that was made; None when nothing was to be done.
    snapshot_id: int | None = None
    #: Places that were left alone, and why.
    left: tuple[str, ...] = ()

    def __add__(self, other: Compaction) -> Compaction:
        return Compaction(
            self.places + other.places,
            self.before + other.before,
            self.after + other.after,
            self.deletes + other.deletes,
            self.snapshot_id if other.snapshot_id is None else other.snapshot_id,
            tuple(dict.fromkeys((*self.left, *other.left))),
        )


@runtime_checkable
class Compacts(Protocol):
    """What a LakeTable may offer to who wants its files to be as few as they can be, now and whatever it costs."""

    def untidy(self) -> Compaction:
        """What a full compaction would rewrite; nothing is written."""
        ...

    def compact_fully(self, on_step: Callable[[Compaction], None]) -> Compaction:
        """Rewrite what is untidy, deletes applied, a snapshot for each step; no row changes.

        It begins again where a round came in between. LakeConflictError when it was overtaken again and again; the
        steps before that stay done, and `on_step` was told of each.
        """
        ...


@runtime_checkable
class KeepsHouse(Protocol):
    """What a LakeTable may offer beside rounds. None of it changes a row, blocks a round or undoes one."""

    def compact(self) -> int:
        """Make fewer, larger files where too many small ones have gathered; how many are gone."""
        ...

    def expire(self, now_ms: int, keep: Iterable[int] = ()) -> int:
        """Drop old snapshots, as the lake table's own properties say, and the files that only they need."""
        ...

    def orphans(self, older_than_ms: int) -> list[str]:
        """Files of ours, last changed before that time, that no snapshot knows."""
        ...

    def remove(self, paths: Iterable[str]) -> None:
        """Delete orphans."""
        ...


class LakeCatalog(Protocol):
    """Where lake tables are found by name."""

    def ensure(self, info: TableInfo) -> LakeTable:
        """The lake's table for one of ours: created if missing, new columns added."""
        ...

    def load(self, path: TablePath) -> LakeTable | None:
        """The lake's table, if there is one."""
        ...


@runtime_checkable
class Drops(Protocol):
    """What a LakeCatalog may offer to who makes room for another table of the same name."""

    def drop(self, path: TablePath) -> None:
        """Remove a table with all its files, for good."""
        ...


@runtime_checkable
class Browsable(Protocol):
    """What a LakeCatalog offers to who looks around; nothing is made by looking."""

    def databases(self) -> list[str]:
        """The names of all databases, sorted."""
        ...

    def tables(self, database: str) -> list[str]:
        """The names of a database's tables, sorted."""
        ...

    def describe(self, path: TablePath) -> TableInfo | None:
        """A table of the lake, whoever made it, as if it were ours: columns, keys and partitions."""
        ...

    def load(self, path: TablePath) -> LakeTable | None:
        """The lake's table, if there is one."""
        ...


class LakeFormat(Protocol):
    """A lake format."""

    @property
    def name(self) -> str:
        """As in `table.datalake.format`."""
        ...

    def catalog(self, properties: Mapping[str, str]) -> LakeCatalog:
        """Open a catalog; properties are those of `datalake.<format>.*`, without the prefix."""
        ...

    def writer(self, writing: bytes, place: LakePlace) -> LakeWriter:
        """A writer in a task."""
        ...
