"""Which tier each part of a table is read from. A pure function: lake offsets and files, log offsets → splits.

log table          every file of the snapshot, LAKE_ONLY; each bucket's log from the snapshot's offset on, LOG_ONLY
primary key        a bucket's files and the changes since, HYBRID; LAKE_ONLY where there are none; what the lake does
                   not have, or is far behind with, is the bucket's state on its server, LOG_ONLY
gone partitions    what the lake keeps of a partition that the cluster has dropped, LAKE_ONLY; one that takes its name
                   goes on from there: dropping a partition drops what is hot, never what is in the lake
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lakeward.client.forms.results import BucketId
from lakeward.lake.port import LakeFile
from lakeward.model.table import TableInfo
from lakeward.query.lake.cold_part import ColdPart
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.plan import log_splits
from lakeward.query.plan.splits import LakeSplit, Split, StateSplit
from lakeward.query.request.request import ReadRequest

#: Changes of a bucket that are held in memory to be laid over its files.
TAIL_CHANGES_MAX = 4_000_000
#: Rows of files that make a task of their own worth while.
_SPLIT_ROWS_MIN = 1_000_000


def union_splits(
    info: TableInfo, cold: ColdPart, ranges: Mapping[BucketId, tuple[int, int]], request: ReadRequest
) -> list[Split]:
    """The splits of both halves; `ranges` says where each bucket's log begins and where the read ends."""
    if info.descriptor.has_primary_key:
        if request.settings.as_of_ms is not None:
            _check_known(info, cold, ranges)
        return list(_keyed_splits(cold, ranges))
    tails = {}
    for id_, (start, stop) in ranges.items():
        begin = cold.offsets.get(id_, start)
        _check_kept(info, id_, begin, start, stop)
        tails[id_] = (begin, stop)
    return [*lake_splits(cold, request), *log_splits(tails, request)]


def lake_splits(cold: ColdPart, request: ReadRequest) -> list[Split]:
    """The files of a snapshot alone; many small ones together, bucket by bucket."""
    total = sum(placed.file.rows for files in cold.files.values() for placed in files)
    target = request.settings.split_rows or max(total // max(request.parallelism, 1), _SPLIT_ROWS_MIN)
    found: list[Split] = []
    for id_, placed in cold.files.items():
        group: list[LakeFile] = []
        rows = 0
        for file in (p.file for p in placed):
            if group and not cold.merges and rows + file.rows > target:
                found.append(_of_files(cold, id_, group))
                group, rows = [], 0
            group.append(file)
            rows += file.rows
        found.append(_of_files(cold, id_, group))
    return found


def _keyed_splits(cold: ColdPart, ranges: Mapping[BucketId, tuple[int, int]]) -> Iterator[Split]:
    for id_, (start, stop) in ranges.items():
        begin = cold.offsets.get(id_, 0 if id_ in cold.files else None)  # files of an earlier partition of this name
        if begin is None or (begin < start and begin < stop) or stop - begin > TAIL_CHANGES_MAX:
            if stop > 0:
                yield StateSplit(id_.partition, id_.bucket, as_of=stop, offsets=stop - start)
            continue
        files = [p.file for p in cold.files.get(id_, ())]
        if files or stop > begin:
            yield _of_files(cold, id_, files, (begin, max(begin, stop)))
    for id_, placed in cold.files.items():
        if id_ not in ranges:
            yield _of_files(cold, id_, [p.file for p in placed])


def _check_known(info: TableInfo, cold: ColdPart, ranges: Mapping[BucketId, tuple[int, int]]) -> None:
    """Where the log's beginning is gone, it does not tell which of the changes before it came after a time."""
    for id_, (start, stop) in ranges.items():
        _check_kept(info, id_, cold.offsets.get(id_, 0), start, stop)


def _of_files(cold: ColdPart, id_: BucketId, files: list[LakeFile], tail: tuple[int, int] = (0, 0)) -> LakeSplit:
    return LakeSplit(id_.partition, id_.bucket, cold.format, cold.snapshot_id, tuple(files), *tail)


def _check_kept(info: TableInfo, id_: BucketId, begin: int, start: int, stop: int) -> None:
    if begin < start and begin < stop:
        raise OvertakenError(
            f"{info.path}, bucket {id_}: the lake's snapshot ends at offset {begin}, the log now begins at {start}. "
            "Ask again: a newer snapshot has the rows between; if none comes, tiering stood still for longer than "
            "retention, and they are lost."
        )
