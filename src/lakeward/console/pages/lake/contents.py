"""What the lake itself has of a table: snapshots, how far each bucket is in them, files. Iceberg and Paimon alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.catalog_of import format_name, lake_properties
from lakeward.lake.home import place_in
from lakeward.lake.port import LakePlace, LakeReader, LakeSnapshot, PlacedFile
from lakeward.model.bucket import TableBucket
from lakeward.model.partition import name_of_values
from lakeward.model.table import TableInfo
from lakeward.query.lake.cold_part import LakeUnavailableError, open_reader
from lakeward.tiering.watch.round_history import PastRound

#: More are counted, and not shown.
_SNAPSHOTS_MAX = 30
_BUCKETS_MAX = 200
_FILES_MAX = 200


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """One snapshot of the lake's table."""

    id: int
    committed_ms: int
    #: Whether a tiering service made it; others make some too, by compacting or appending.
    is_round: bool
    total_rows: int | None
    total_bytes: int | None
    #: Bucket and the offset up to which it is in the lake; None where the snapshot does not say it itself.
    offsets: tuple[tuple[str, int], ...] | None
    buckets: int
    #: Rows, or changes, of the log since the round before; None where that cannot be told.
    moved: int | None = None


@dataclass(frozen=True, slots=True)
class LakeContents:
    """Snapshots, newest first."""

    format: str
    place: str | None
    snapshots: tuple[SnapshotRow, ...] = ()
    snapshots_in_all: int = 0
    #: Whether the lake has the table.
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class FileRow:
    """One data file of a snapshot."""

    path: str
    place: str
    rows: int
    bytes: int
    #: Rows of it that were deleted meanwhile are named in so many files.
    deletes: int


@dataclass(frozen=True, slots=True)
class LakeFiles:
    """The files of a snapshot, the largest first."""

    snapshot_id: int
    files: tuple[FileRow, ...]
    files_in_all: int
    rows: int
    bytes: int
    #: The average is what small files show in.
    average: int


def read_contents(conn: Connection, table: Table) -> LakeContents:
    """The snapshots of a table; LakeUnavailableError where the lake cannot be reached from here."""
    info = table.info
    contents = LakeContents(format_name(info), place_in(lake_properties(info, conn.lake_properties)))
    with _telling_why(info):
        reader = _reader(conn, info)
        if reader is None:
            _check_unknown(conn, info, contents.place)
            return replace(contents, is_there=False)
        found = reader.snapshots()
    names = {None: ""} | ({p.id: p.name for p in table.partitions()} if info.descriptor.is_partitioned else {})
    rows = [_row(one, names) for one in islice(found, _SNAPSHOTS_MAX)]
    return replace(contents, snapshots=with_moved(rows), snapshots_in_all=len(found))


def read_files(conn: Connection, table: Table, snapshot_id: int | None) -> LakeFiles | None:
    """The files of a snapshot, or of the newest; None where there is none yet."""
    info = table.info
    with _telling_why(info):
        reader = _reader(conn, info)
        if reader is None:
            _check_unknown(conn, info, place_in(lake_properties(info, conn.lake_properties)))
            return None
        known = reader.snapshots()
        if not known:
            return None
        wanted = known[0].snapshot_id if snapshot_id is None else snapshot_id
        if wanted not in {one.snapshot_id for one in known}:
            raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(
                f"The lake's table {info.path} does not have snapshot {wanted}, or not any more."
            )
        files = reader.files(wanted)
    return _files(wanted, files)


def rounds_of(snapshots: Sequence[SnapshotRow]) -> list[PastRound]:
    """Rounds as the lake tells of them, oldest first: without how long they took, and without those that failed."""
    return [
        PastRound(one.committed_ms, rows=one.moved, snapshot_id=one.id) for one in reversed(snapshots) if one.is_round
    ]


def with_moved(rows: Sequence[SnapshotRow]) -> tuple[SnapshotRow, ...]:
    """Snapshots, newest first, with how far each went beyond the one below it."""
    below = zip_longest(rows, rows[1:])
    return tuple(replace(row, moved=_rows_since(row, before)) for row, before in below)


def _rows_since(row: SnapshotRow, before: SnapshotRow | None) -> int | None:
    if before is None or row.offsets is None or before.offsets is None or row.buckets > _BUCKETS_MAX:
        return None
    known = dict(before.offsets)
    return sum(end - known.get(bucket, 0) for bucket, end in row.offsets)


def _reader(conn: Connection, info: TableInfo) -> LakeReader | None:
    return open_reader(info, {f"lake.{key}": value for key, value in conn.lake_properties.items()})


def _check_unknown(conn: Connection, info: TableInfo, place: str | None) -> None:
    """A table that the cluster knows in the lake, and that is not there from here, is on another machine."""
    told = conn.lake.snapshot(info.path)
    if told is not None:
        where = "in its lake" if place is None else f"at {place}"
        raise LakeUnavailableError(
            ErrorCode.LAKE_STORAGE_NOT_CONFIGURED,
            f"The cluster knows snapshot {told.snapshot_id} of {info.path}; from here, there is no such table {where}.",
        )


@contextmanager
def _telling_why(info: TableInfo) -> Iterator[None]:
    try:
        yield
    except LakewardError:
        raise
    except Exception as wrong:
        # As many kinds as there are libraries; each of them means that the lake is out of reach.
        raise LakeUnavailableError(
            ErrorCode.LAKE_STORAGE_NOT_CONFIGURED, f"The lake of {info.path} cannot be read: {wrong}"
        ) from wrong


def _row(one: LakeSnapshot, names: dict[int | None, str]) -> SnapshotRow:
    offsets = None if one.offsets is None else sorted(one.offsets.items(), key=_order)
    shown = None if offsets is None else tuple((_name(b, names), end) for b, end in offsets[:_BUCKETS_MAX])
    return SnapshotRow(
        one.snapshot_id,
        one.committed_ms,
        one.round_id in {None, one.snapshot_id},
        one.total_rows,
        one.total_bytes,
        shown,
        0 if offsets is None else len(offsets),
    )


def _order(item: tuple[TableBucket, int]) -> tuple[int, int]:
    return item[0].partition_id or 0, item[0].bucket


def _name(bucket: TableBucket, names: dict[int | None, str]) -> str:
    if bucket.partition_id is None:
        return str(bucket.bucket)
    return f"{names.get(bucket.partition_id, f'partition {bucket.partition_id}, dropped')}/{bucket.bucket}"


def _place(place: LakePlace) -> str:
    values = place.partition_values
    return f"{name_of_values(values)}/{place.bucket}" if values else str(place.bucket)


def _files(snapshot_id: int, placed: Sequence[PlacedFile]) -> LakeFiles:
    largest = sorted(placed, key=lambda one: -one.file.bytes)[:_FILES_MAX]
    size = sum(one.file.bytes for one in placed)
    rows = tuple(
        FileRow(
            one.file.path,
            _place(one.place),
            one.file.rows,
            one.file.bytes,
            len(one.file.deletes) + len(one.file.equality_deletes),
        )
        for one in largest
    )
    return LakeFiles(
        snapshot_id, rows, len(placed), sum(one.file.rows for one in placed), size, size // max(len(placed), 1)
    )
