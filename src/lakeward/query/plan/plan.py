"""Plan: the splits of a read, how they are cut and spread, and what they amount to in one line."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from lakeward.client.forms.results import BucketId, PartitionInfo
from lakeward.model.table import TableInfo
from lakeward.query.lake.file_pruning import judges
from lakeward.query.plan.splits import LakeRangeSplit, LakeSplit, LogSplit, Split, StateSplit, Tier
from lakeward.query.request.filters import Filter, columns_of
from lakeward.query.request.offset_bounds import OffsetBounds, offset_bounds
from lakeward.query.request.pushdown import is_pushed, keeps_partition, partition_values
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import View, view_schema

if TYPE_CHECKING:
    from lakeward.client.blocking.sync_table import Table

_VERSION = 1
#: A task has its price: no bucket is cut into smaller pieces than this unless that is asked for.
_SPLIT_OFFSETS_MIN = 100_000


@dataclass(frozen=True, slots=True)
class LakeShare:
    """What of a read comes from the lake: a snapshot, files out of all it has, their rows and bytes; splits by tier."""

    format: str
    snapshot_id: int
    files: int
    files_in_all: int
    rows: int
    bytes: int
    tiers: Mapping[Tier, int]

    def __str__(self) -> str:
        tiers = ", ".join(f"{count:,} {tier}" for tier, count in self.tiers.items())
        return (
            f"{self.format} snapshot {self.snapshot_id}: {self.files:,} of {_count_text(self.files_in_all, 'file')}, "
            f"{_count_text(self.rows, 'row')}, {_count_text(self.bytes, 'byte')} (splits: {tiers or 'none'})"
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """What a plan reads, in numbers; partitions are None for a table without.

    `offsets` are at least as many as the rows that come out. For states they count the changes that led to them;
    `log_offsets` are without those.
    """

    name: str
    partitions: tuple[int, int] | None
    buckets: int
    offsets: int
    log_offsets: int
    columns: tuple[int, int]
    filters: tuple[str, ...]
    limit: int | None
    is_state: bool
    lake: LakeShare | None = None
    #: About; None where nobody has looked.
    log_bytes: int | None = None
    #: What the logs hold, where bounds on offsets and times leave out some of it.
    log_offsets_in_all: int | None = None

    def __str__(self) -> str:
        parts = []
        if self.partitions is not None:
            parts.append(f"{self.partitions[0]:,} of {self.partitions[1]:,} partitions")
        parts.append(_count_text(self.buckets, "bucket"))
        if self.lake is not None:
            parts.append(str(self.lake))
        if self.is_state:
            parts.append("current state")
        if self.log_offsets or not self.is_state:
            about = f" (about {_count_text(self.log_bytes, 'byte')})" if self.log_bytes else ""
            parts.append(self.log_share + about)
        parts.append(f"{self.columns[0]:,} of {_count_text(self.columns[1], 'column')}")
        if self.filters:
            parts.append(f"pushed: {', '.join(self.filters)}")
        if self.limit is not None:
            parts.append(f"limit {self.limit:,}")
        return ", ".join(parts)

    @property
    def log_share(self) -> str:
        """How many offsets of logs are read, out of how many."""
        if self.log_offsets_in_all is None:
            return _count_text(self.log_offsets, "offset")
        return f"{self.log_offsets:,} of {_count_text(self.log_offsets_in_all, 'offset')}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The splits of a read, and what they amount to.

    With `keeps_order` the splits of a bucket are read one after the other by one task, so that changes of one key
    come in the order they were made.
    """

    splits: tuple[Split, ...]
    summary: Summary
    keeps_order: bool = False
    #: Where each log began and ended, of a table without partitions that is read with its lake as it is now.
    stretches: Mapping[BucketId, tuple[int, int]] | None = None

    def describe(self) -> str:
        """One line for EXPLAIN."""
        return str(self.summary)

    def to_json(self) -> dict[str, Any]:
        """All of it, for an engine to run; docs/reference/plan.schema.json says what is in it."""
        told, cold = self.summary, self.summary.lake
        return {
            "version": _VERSION,
            "table": told.name,
            "lake": None
            if cold is None
            else {
                "format": cold.format,
                "snapshot_id": cold.snapshot_id,
                "files": cold.files,
                "files_in_all": cold.files_in_all,
                "rows": cold.rows,
                "bytes": cold.bytes,
            },
            "log_offsets": told.log_offsets,
            "log_bytes": told.log_bytes,
            "log_offsets_in_all": told.log_offsets if told.log_offsets_in_all is None else told.log_offsets_in_all,
            "partitions": None
            if told.partitions is None
            else {"read": told.partitions[0], "in_all": told.partitions[1]},
            "filters": list(told.filters),
            "limit": told.limit,
            "splits": [split.to_json() for split in self.splits],
        }

    def tasks(self, most: int) -> list[list[Split]]:
        """The splits in at most this many groups of about the same work, for tables of many small buckets."""
        if not self.keeps_order:
            return spread([[split] for split in self.splits], most)
        by_bucket: dict[BucketId, list[Split]] = {}
        for split in self.splits:
            by_bucket.setdefault(split.id, []).append(split)
        return spread(by_bucket.values(), most)


def summary(
    info: TableInfo, request: ReadRequest, splits: Sequence[Split], of_all: int = 0, lake: LakeShare | None = None
) -> Summary:
    """What some splits amount to; `of_all` is how many partitions there are."""
    buckets = {s.id for s in splits}
    return Summary(
        name=request.name,
        partitions=(len({id_.partition for id_ in buckets}), of_all) if info.descriptor.is_partitioned else None,
        buckets=len(buckets),
        offsets=sum(s.weight for s in splits),
        log_offsets=sum(_log_offsets(s) for s in splits),
        columns=_columns(info, request),
        filters=tuple(str(f) for f in request.filters if _reaches(f, info, request) or _prunes(f, info, lake)),
        limit=request.limit,
        is_state=any(isinstance(s, StateSplit) for s in splits),
        lake=lake,
    )


def _log_offsets(split: Split) -> int:
    match split:
        case LogSplit():
            return split.weight
        case LakeSplit():
            return split.log_offsets
        case StateSplit() | LakeRangeSplit():
            return 0


def chosen_partitions(
    table: Table, request: ReadRequest, listed: list[PartitionInfo] | None = None
) -> tuple[list[PartitionInfo] | None, int]:
    """The partitions that can hold matching rows (None without partitions), and how many there are in all.

    `listed` are those that there are, if they were listed before.
    """
    if not table.info.descriptor.is_partitioned:
        return None, 0
    found = table.partitions() if listed is None else listed
    filters = () if request.view is View.BINLOG else request.filters
    if not filters:
        return found, len(found)
    schema = table.info.schema
    kept = [p for p in found if keeps_partition(filters, partition_values(schema, p.spec))]
    return kept, len(found)


def _columns(info: TableInfo, request: ReadRequest) -> tuple[int, int]:
    whole = len(view_schema(info.schema, request.view).columns)
    return (whole if request.columns is None else len(request.columns)), whole


def _reaches(filter_: Filter, info: TableInfo, request: ReadRequest) -> bool:
    """Whether a filter makes the read smaller: by partitions, by offsets, or by batches of a log table."""
    if request.view is not View.ROWS and offset_bounds([filter_]) != OffsetBounds():
        return True
    if request.view is View.BINLOG:
        return False
    names = columns_of(filter_)
    if names and names <= set(info.descriptor.partition_keys):
        return True
    return not info.descriptor.has_primary_key and is_pushed(filter_, info.schema)


def _prunes(filter_: Filter, info: TableInfo, lake: LakeShare | None) -> bool:
    """Whether a filter may leave out files; those of Paimon's primary key tables are judged by the key alone."""
    if lake is None or not judges(filter_):
        return False
    if lake.format == "paimon" and info.descriptor.has_primary_key:
        return columns_of(filter_) <= set(info.schema.primary_key)
    return True


# -- cutting and spreading --------------------------------------------------------------------------------------------


def whole_logs(ranges: Mapping[BucketId, tuple[int, int]]) -> list[LogSplit]:
    """Stretches of logs, one for each bucket."""
    return [LogSplit(id_.partition, id_.bucket, *stretch) for id_, stretch in ranges.items() if stretch[1] > stretch[0]]


def log_splits(ranges: Mapping[BucketId, tuple[int, int]], request: ReadRequest) -> list[LogSplit]:
    """Stretches of logs, large ones cut so that no task has much more to do than others."""
    total = sum(max(stop - start, 0) for start, stop in ranges.values())
    asked = request.settings.split_rows
    target = asked or max(-(-total // max(request.parallelism, 1)), _SPLIT_OFFSETS_MIN)
    found = []
    for id_, (start, stop) in ranges.items():
        if stop <= start:
            continue
        if stop - start <= target:
            found.append(LogSplit(id_.partition, id_.bucket, start, stop))
            continue
        pieces = -(-(stop - start) // target)
        edges = [start + (stop - start) * n // pieces for n in range(pieces + 1)]
        found += [LogSplit(id_.partition, id_.bucket, edges[n], edges[n + 1]) for n in range(pieces)]
    return found


def enough(table: Table, splits: Sequence[Split], request: ReadRequest) -> Sequence[Split]:
    """As many splits as a limit needs, the last one of a log cut, as far as it is known how many rows they have.

    Of a table with a primary key it is not: some batches of changes are empty, and files hold rows that later ones
    replace. Nor is it in a log that has given up offsets, or if damaged ones are left out.
    """
    if request.limit is None or request.filters or table.info.descriptor.has_primary_key:
        return splits
    if request.settings.skip_damaged:
        return splits
    are_rows = cache(table.offsets_are_rows)
    found: list[Split] = []
    left = request.limit
    for split in splits:
        if left <= 0:
            break
        if isinstance(split, LogSplit) and are_rows(split.id):
            split = replace(split, stop=min(split.stop, split.start + left))
            left -= split.stop - split.start
        elif isinstance(split, LakeSplit) and not split.log_offsets:
            left -= split.lake_rows
        found.append(split)
    return found


def spread(units: Iterable[Sequence[Split]], most: int) -> list[list[Split]]:
    """Groups of about the same work, at most this many, none empty; a unit stays together and in order."""
    weighed = sorted(((sum(s.weight for s in unit), unit) for unit in units), key=lambda pair: pair[0], reverse=True)
    groups: list[list[Split]] = [[] for _ in range(min(max(most, 1), len(weighed)))]
    lightest = [(0, 0, number) for number in range(len(groups))]
    for weight, unit in weighed:
        so_far, members, number = heapq.heappop(lightest)
        groups[number].extend(unit)
        heapq.heappush(lightest, (so_far + weight, members + len(unit), number))
    return groups


def _count_text(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
