"""StreamLake: the lake's half of a stream, opened when a batch needs it, as it is then.

A stream that begins with everything (`full`) begins with the lake:

log table          rows have their offsets in the lake too, so a position is an offset whichever half has the row: up to
                   where the lake was when the stream began they are read there, from then on in the log
primary key        the rows as of where the log ended when the stream began: files with the changelog's tail laid over
                   them, or the server's own state where the lake does not reach
gone partitions    what the lake keeps of partitions that the cluster has dropped, a bucket at a time

None of this depends on a certain snapshot: compaction and expiry change files, never which rows an offset stands for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.catalog_of import format_name
from lakeward.lake.port import LakeFile, LakeReader, LakeSnapshot
from lakeward.lake.rows.system_columns import BUCKET, OFFSET
from lakeward.model.partition import name_of_values
from lakeward.options.table import LAKE_ENABLED
from lakeward.query.lake.cold_part import ColdPart, LakeUnavailableError, bucket_offsets, cold_part, open_reader
from lakeward.query.lake.file_pruning import may_match
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.replan import replan
from lakeward.query.plan.splits import LakeRangeSplit, LakeSplit, OffsetWindow, Split
from lakeward.query.plan.union import TAIL_CHANGES_MAX
from lakeward.query.read import data_loss
from lakeward.query.read.lake_rows import may_hold
from lakeward.query.request.filters import columns_of
from lakeward.query.request.options import Tiers
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import View
from lakeward.query.stream.stream_offset import Position
from lakeward.query.stream.table_now import TableNow

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

#: Rows of files that make a task of their own worth while.
_SPLIT_ROWS_MIN = 1_000_000


class Beginning(NamedTuple):
    """Where a stream begins, and up to which offset each bucket is read in the lake."""

    positions: Mapping[BucketId, Position]
    lake_ends: Mapping[BucketId, int]


def reads_lake(found: TableNow, request: ReadRequest) -> bool:
    """Whether a stream has a lake to read: one of plain rows, of a table that is tiered."""
    is_tiered = LAKE_ENABLED.read(found.table.info.descriptor.properties)
    return is_tiered and request.view is View.ROWS and request.settings.tiers is Tiers.ALL


def beginning(conn: Connection, found: TableNow, request: ReadRequest) -> Beginning | None:
    """Where a stream of everything begins; None: nothing is in the lake, or it is out of reach and not needed."""
    try:
        return replan(conn, lambda: StreamLake(conn, found, request).beginning())
    except LakeUnavailableError as wrong:
        _check_log_suffices(found, request, wrong)
        return None


def _check_log_suffices(found: TableNow, request: ReadRequest, wrong: LakeUnavailableError) -> None:
    if found.table.info.descriptor.has_primary_key or not request.settings.fail_on_data_loss:
        return
    late = [id_ for id_, start in found.offsets("earliest").items() if start > 0]
    if late:
        raise LakewardError(
            wrong.code,
            f"{wrong.message.rstrip('.')}; and the log alone no longer has all rows of {request.path} (bucket "
            f"{late[0]} begins late). Name the lake's catalog by the options lake.*, or stream what is there with "
            "scan.tiers=log.",
        ) from wrong


class StreamLake:
    """The lake of a table as it is now; LakeUnavailableError when it cannot be opened."""

    def __init__(self, conn: Connection, found: TableNow, request: ReadRequest) -> None:
        self._conn = conn
        self._found = found
        self._info = found.table.info
        self._request = request
        self._reader: LakeReader | None = open_reader(self._info, request.options)
        self._snapshots: list[LakeSnapshot] = [] if self._reader is None else self._reader.snapshots()

    # -- where a stream begins ----------------------------------------------------------------------------------------

    def beginning(self) -> Beginning | None:
        """The lake's newest snapshot is looked at first, the logs after it: so nothing falls between."""
        if not self._snapshots:
            self._check_unknown()
            return None
        ends = self._ends(self._snapshots[0])
        gone = {id_: Position(sum(f.rows for f in files), is_state=True) for id_, files in self._gone_files().items()}
        if self._info.descriptor.has_primary_key:
            states = {id_: Position(end, is_state=end > 0) for id_, end in self._found.offsets("latest").items()}
            return Beginning(states | gone, {})
        begins = self._found.offsets("earliest")
        cold = {id_: end for id_, end in ends.items() if id_ in begins and end > 0}
        if self._request.settings.fail_on_data_loss:
            for id_, end in cold.items():
                self._check_meets(id_, end, begins[id_])
        positions = {id_: Position(0 if id_ in cold else begin) for id_, begin in begins.items()}
        return Beginning(positions | gone, cold)

    def _check_unknown(self) -> None:
        told = self._conn.lake.snapshot(self._info.path)
        if told is not None:
            raise LakeUnavailableError(
                ErrorCode.LAKE_SNAPSHOT_NOT_EXIST,
                f"The server knows of snapshot {told.snapshot_id} of {self._info.path}, but the lake that is "
                "configured here does not have the table: name the right catalog by the options lake.*.",
            )

    def _check_meets(self, id_: BucketId, end: int, begin: int) -> None:
        if end < begin:
            raise OvertakenError(
                f"{self._info.path}, bucket {id_}: the lake ends at offset {end}, the log now begins at {begin}. Ask "
                "again: a newer snapshot has the rows between; if none comes, tiering stood still for longer than "
                "retention, and they are lost: set failOnDataLoss=false to go on without them."
            )

    def _ends(self, snapshot: LakeSnapshot) -> dict[BucketId, int]:
        names = {number: name for name, number in self._found.partitions.items()}
        return bucket_offsets(self._conn, self._info, snapshot, names)

    def _cold(self, snapshot: LakeSnapshot) -> ColdPart:
        assert self._reader is not None
        names = {number: name for name, number in self._found.partitions.items()}
        return cold_part(self._conn, self._info, self._reader, snapshot, self._request.filters, names)

    # -- the splits of a batch ----------------------------------------------------------------------------------------

    def _gone_files(self) -> dict[BucketId, list[LakeFile]]:
        """Files of partitions that the cluster no longer has."""
        if not self._info.descriptor.is_partitioned or not self._snapshots:
            return {}
        live = {p.name for p in self._found.table.partitions()}
        files = self._cold(self._snapshots[0]).files
        return {id_: [p.file for p in placed] for id_, placed in files.items() if id_.partition not in live}

    def gone_splits(self, ids: Iterable[BucketId]) -> list[Split]:
        """All that the lake has of buckets of partitions that the cluster had dropped before the stream began."""
        files = self._gone_files()
        return [self._of_files(self._snapshots[0], id_, files[id_]) for id_ in ids if id_ in files]

    def states(self, as_of: Mapping[BucketId, int]) -> list[Split]:
        """The rows of buckets as of offsets: of those that the lake reaches, with the log from there on."""
        begins = self._found.offsets("earliest", {id_.partition for id_ in as_of})
        wanted = dict(as_of)
        found: list[Split] = []
        for snapshot in self._snapshots:
            ends = self._ends(snapshot)
            if not any(ends.get(id_, -1) >= begins.get(id_, 0) for id_ in wanted):
                break  # older ones are even further behind
            reached = {
                id_: ends[id_]
                for id_, stop in wanted.items()
                if begins.get(id_, 0) <= ends.get(id_, -1) <= stop <= ends[id_] + TAIL_CHANGES_MAX
            }
            files = self._cold(snapshot).files if reached else {}
            for id_, end in reached.items():
                own = [p.file for p in files.get(id_, ())]
                found.append(self._of_files(snapshot, id_, own, (end, wanted.pop(id_))))
        return found

    def _of_files(
        self, snapshot: LakeSnapshot, id_: BucketId, files: list[LakeFile], tail: tuple[int, int] = (0, 0)
    ) -> LakeSplit:
        return LakeSplit(*id_, format_name(self._info), snapshot.snapshot_id, tuple(files), *tail)

    def ranges(self, wanted: Mapping[BucketId, tuple[int, int]]) -> list[Split]:
        """Rows of a log table by their offsets; what the lake does not have either is an error."""
        ends = self._ends(self._snapshots[0]) if self._snapshots else {}
        for id_, (start, stop) in wanted.items():
            end = ends.get(id_, 0)
            if end < stop and self._request.settings.fail_on_data_loss:
                raise data_loss.retention_error(self._request.path, id_, max(start, end), stop)
        windows: dict[str | None, list[OffsetWindow]] = defaultdict(list)
        for id_, (start, stop) in wanted.items():
            windows[id_.partition].append(OffsetWindow(id_.bucket, start, stop))
        return [split for partition, own in windows.items() for split in self._in_windows(partition, own)]

    def _in_windows(self, partition: str | None, windows: list[OffsetWindow]) -> list[Split]:
        """The files that can hold rows of some windows, in groups that are worth a task."""
        together: dict[tuple[OffsetWindow, ...], list[LakeFile]] = defaultdict(list)
        filters = self._request.filters
        names = {name for f in filters for name in columns_of(f)}
        if self._reader is None or not self._snapshots:
            return []
        newest = self._snapshots[0].snapshot_id
        for placed in self._reader.files(newest, [OFFSET, BUCKET, *names]):
            values = placed.place.partition_values
            if (name_of_values(values) if values else None) != partition or not may_match(filters, placed.bounds):
                continue
            if own := tuple(w for w in windows if may_hold(placed, w)):
                together[own].append(placed.file)
        return [
            LakeRangeSplit(partition, format_name(self._info), newest, tuple(group), own)
            for own, files in together.items()
            for group in self._group_files(files)
        ]

    def _group_files(self, files: list[LakeFile]) -> list[list[LakeFile]]:
        target = self._request.settings.split_rows or _SPLIT_ROWS_MIN
        groups: list[list[LakeFile]] = []
        rows = target
        for file in files:
            if rows + file.rows > target:
                groups.append([])
                rows = 0
            groups[-1].append(file)
            rows += file.rows
        return groups
