"""ColdPart: the lake's half of a table, opened for one plan; which snapshot is read, and what it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.catalog_of import format_name, reader_of
from lakeward.lake.home import check_found
from lakeward.lake.port import LakeReader, LakeSnapshot, PlacedFile
from lakeward.model.bucket import TableBucket
from lakeward.model.partition import name_of_values
from lakeward.model.table import TableInfo
from lakeward.options.spark import lake_options
from lakeward.query.lake.file_pruning import may_match
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.request.filters import Filter, columns_of
from lakeward.query.request.options import ReadOptions
from lakeward.query.request.pushdown import keeps_partition, partition_values

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection


class LakeUnavailableError(LakewardError):
    """The lake cannot be opened here; the message says why."""


@dataclass(frozen=True, slots=True)
class ColdPart:
    """What a snapshot of the lake has of a table: how far each bucket is, and the files that can hold matching rows."""

    format: str
    snapshot_id: int
    committed_ms: int
    offsets: Mapping[BucketId, int]
    files: Mapping[BucketId, Sequence[PlacedFile]]
    files_in_all: int = 0
    #: The files of a bucket only make sense together.
    merges: bool = False


def open_reader(info: TableInfo, options: Mapping[str, str]) -> LakeReader | None:
    """The lake's table as it is now; None when nothing was tiered yet. LakeUnavailableError: it cannot be opened."""
    given = lake_options(options)
    try:
        reader = reader_of(info, given)
    except Exception as wrong:
        # Catalogs fail in as many ways as there are libraries; each of them means that the lake is out of reach.
        raise LakeUnavailableError(
            ErrorCode.LAKE_STORAGE_NOT_CONFIGURED, f"The lake of {info.path} cannot be opened: {wrong}"
        ) from wrong
    if reader is None:
        check_found(info, given)
    return reader


def chosen_snapshot(info: TableInfo, reader: LakeReader, settings: ReadOptions) -> LakeSnapshot | None:
    """The snapshot that is read: the newest, or as an option names it; None when there is none (yet)."""
    known = reader.snapshots()
    if settings.snapshot_id is not None:
        return _snapshot_by_id(info, known, settings.snapshot_id, f"snapshot {settings.snapshot_id}")
    if settings.tag is not None:
        tags = reader.tags()
        if settings.tag not in tags:
            raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(
                f"The lake's table {info.path} has no tag '{settings.tag}'; it has {', '.join(sorted(tags)) or 'none'}."
            )
        return tags[settings.tag]
    if settings.as_of_ms is not None:
        return next((s for s in known if s.committed_ms <= settings.as_of_ms), None)
    return known[0] if known else None


def _expiry_error(info: TableInfo, snapshot: LakeSnapshot) -> OvertakenError:
    return OvertakenError(
        f"Snapshot {snapshot.snapshot_id} of {info.path} has expired while it was looked at: ask again."
    )


def _snapshot_by_id(info: TableInfo, known: list[LakeSnapshot], snapshot_id: int, called: str) -> LakeSnapshot:
    found = next((s for s in known if s.snapshot_id == snapshot_id), None)
    if found is None:
        there = f"the oldest that can be read is {known[-1].snapshot_id}" if known else "it has none yet"
        raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(f"The lake's table {info.path} does not have {called}; {there}.")
    return found


def cold_part(
    conn: Connection,
    info: TableInfo,
    reader: LakeReader,
    snapshot: LakeSnapshot,
    filters: Iterable[Filter],
    partition_names: Mapping[int, str],
) -> ColdPart:
    """What a snapshot holds; `partition_names` are those of the partitions that there are, by id."""
    by_id = bucket_offsets(conn, info, snapshot, partition_names)
    kept = list(filters)
    names = {name for f in kept for name in columns_of(f)}
    found: dict[BucketId, list[PlacedFile]] = {}
    in_all = 0
    schema, keys = info.schema, info.descriptor.partition_keys
    known: dict[tuple[str, ...], bool] = {}
    for place, here in groupby(_files(info, reader, snapshot, names), lambda placed: placed.place):
        group = list(here)
        in_all += len(group)
        values = place.partition_values
        if values not in known:
            spec = dict(zip(keys, values, strict=True))
            known[values] = not kept or keeps_partition(kept, partition_values(schema, spec))
        if not known[values]:
            continue
        # A file of a primary key table hides no row of another file: a key is in one file only.
        matching = [placed for placed in group if may_match(kept, placed.bounds)] if kept else group
        if matching:
            name = name_of_values(values) if values else None
            found.setdefault(BucketId(name, place.bucket), []).extend(matching)
    return ColdPart(format_name(info), snapshot.snapshot_id, snapshot.committed_ms, by_id, found, in_all, reader.merges)


def bucket_offsets(
    conn: Connection, info: TableInfo, snapshot: LakeSnapshot, partition_names: Mapping[int, str]
) -> dict[BucketId, int]:
    """How far a snapshot is with each bucket of the partitions that there are, whose names are given by id."""
    return {
        BucketId(None if b.partition_id is None else partition_names[b.partition_id], b.bucket): offset
        for b, offset in _offsets(conn, info, snapshot).items()
        if b.partition_id is None or b.partition_id in partition_names
    }


def _files(info: TableInfo, reader: LakeReader, snapshot: LakeSnapshot, names: Iterable[str]) -> list[PlacedFile]:
    try:
        return reader.files(snapshot.snapshot_id, names)
    except FileNotFoundError as gone:
        raise _expiry_error(info, snapshot) from gone
    except LakewardError as wrong:
        if wrong.code is ErrorCode.LAKE_SNAPSHOT_NOT_EXIST:
            raise _expiry_error(info, snapshot) from wrong
        raise LakeUnavailableError(wrong.code, wrong.message) from wrong


def _offsets(conn: Connection, info: TableInfo, snapshot: LakeSnapshot) -> Mapping[TableBucket, int]:
    """A snapshot of Apache Fluss's service names a document, one that was handed over another table: the server has
    been told what it means here."""
    is_foreign = snapshot.offsets is not None and any(b.table_id != info.table_id for b in snapshot.offsets)
    if snapshot.offsets is not None and not is_foreign:
        return snapshot.offsets
    told = conn.lake.snapshot(info.path, snapshot_id=snapshot.round_id or snapshot.snapshot_id)
    if told is not None:
        return told.offsets
    if is_foreign:
        raise LakeUnavailableError(
            ErrorCode.LAKE_TABLE_ALREADY_EXIST,
            f"The lake's table {info.path} is that of an earlier table of this name. "
            f"`lakeward lake drop {info.path}` removes it.",
        )
    raise LakeUnavailableError(
        ErrorCode.LAKE_SNAPSHOT_NOT_EXIST,
        f"Snapshot {snapshot.snapshot_id} of {info.path} was made by another tiering service, and the server does "
        "not know its offsets any more.",
    )
