"""plan_read: a bounded read, planned against one snapshot of the lake and one set of end offsets.

1 the lake's snapshot, which says how far each bucket is · 2 where the logs end, asked for after it: so nothing falls
between · 3 the tier of each part. Retention that passes meanwhile makes the plan start over with a newer snapshot.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakeward.client.forms.results import BucketId, PartitionInfo, Timestamp
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.catalog_of import format_name
from lakeward.lake.port import LakeReader, LakeSnapshot
from lakeward.lake.rows.system_columns import TIMESTAMP
from lakeward.model.table import TableInfo
from lakeward.options.table import LAKE_ENABLED
from lakeward.query.lake.cold_part import (
    ColdPart,
    LakeUnavailableError,
    bucket_offsets,
    chosen_snapshot,
    cold_part,
    open_reader,
)
from lakeward.query.lake.lake_cache import cold_key, lake_cache_of
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.by_time import splits_by_time
from lakeward.query.plan.plan import LakeShare, Plan, chosen_partitions, enough, log_splits, summary
from lakeward.query.plan.replan import replan
from lakeward.query.plan.splits import LakeSplit, Split, StateSplit
from lakeward.query.plan.union import lake_splits, union_splits
from lakeward.query.request.filling import check_filled
from lakeward.query.request.filters import columns_of
from lakeward.query.request.offset_bounds import offset_bounds
from lakeward.query.request.options import StartupMode, Tiers
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import View, check_view

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table


def plan_read(conn: Connection, request: ReadRequest) -> Plan:
    """Plan a read up to where the table ends now, or as it was when options say so."""
    return replan(conn, lambda: plan_once(conn, request))


@dataclass(frozen=True, slots=True)
class SeenLogs:
    """Where logs end, for those who have asked for it already, and where they are read from.

    It was asked when the snapshot with this id was known, and rows from the beginnings on are there: whoever keeps them
    has looked.
    """

    snapshot_id: int | None
    stretches: Mapping[BucketId, tuple[int, int]]

    def fit(self, cold: ColdPart) -> bool:
        """Whether they go on where this snapshot ends."""
        return self.snapshot_id == cold.snapshot_id and all(
            begin == cold.offsets.get(id_, 0) for id_, (begin, _) in self.stretches.items()
        )


def plan_once(conn: Connection, request: ReadRequest, known: Table | None = None, seen: SeenLogs | None = None) -> Plan:
    """The same for those who plan again themselves, when the table has overtaken a plan (see `replan`).

    `known` is the table, for those who have asked for it already.
    """
    table = known or conn.table(str(request.path))
    check_view(table.info, request.view)
    check_filled(table.info)
    if not _sees_lake(table.info, request):
        return _from_servers(table, request)
    try:
        return _with_lake(conn, table, request, seen)
    except LakeUnavailableError as wrong:
        _check_log_suffices(table, request, wrong)
        return _from_servers(table, request)


def plan_nothing(
    conn: Connection, request: ReadRequest, known: Table | None = None, _seen: SeenLogs | None = None
) -> Plan:
    """A read of no rows, for those who only want to know its columns."""
    info = (known or conn.table(str(request.path))).info
    check_view(info, request.view)
    return Plan((), summary(info, request, ()))


def _sees_lake(info: TableInfo, request: ReadRequest) -> bool:
    settings = request.settings
    if request.view is View.LAKE:
        return True
    if settings.travels or settings.tiers is Tiers.LAKE:
        if request.view is not View.ROWS or not LAKE_ENABLED.read(info.descriptor.properties):
            raise ErrorCode.INVALID_SCAN_REQUEST.error(
                f"{request.name} cannot be read as it was or from a lake: only the rows of tables with "
                "'table.datalake.enabled' can."
            )
        return True
    is_whole = settings.mode is StartupMode.FULL and settings.tiers is Tiers.ALL
    return request.view is View.ROWS and is_whole and LAKE_ENABLED.read(info.descriptor.properties)


# -- both halves ------------------------------------------------------------------------------------------------------


def _with_lake(conn: Connection, table: Table, request: ReadRequest, seen: SeenLogs | None) -> Plan:
    info, settings = table.info, request.settings
    reads_lake_alone = request.view is View.LAKE or settings.tiers is Tiers.LAKE or settings.snapshot_id or settings.tag
    is_newest = reads_lake_alone or settings.travels or info.descriptor.is_partitioned
    cache = lake_cache_of(conn.inner)
    reader = (open_reader if is_newest else cache.reader)(info, request.options)
    snapshot = None if reader is None else chosen_snapshot(info, reader, settings)
    if reader is None or snapshot is None:
        return _without_snapshot(conn, table, request, reader)
    listed = table.partitions() if info.descriptor.is_partitioned else None
    chosen, of_all = chosen_partitions(table, request, listed)
    names = {p.id: p.name for p in listed or ()}
    cold = cache.cold_part(
        cold_key(info, snapshot, request, names),
        lambda: cold_part(conn, info, reader, snapshot, request.filters, names),
    )
    splits: Sequence[Split]
    stretches: Mapping[BucketId, tuple[int, int]] | None = None
    if reads_lake_alone:
        splits = lake_splits(cold, request)
    else:
        if seen is not None and not is_newest and seen.fit(cold):
            stretches = seen.stretches
        else:
            stretches = _stretches(table, request, chosen, cold.offsets)
        try:
            splits = union_splits(info, cold, stretches, request)
        except OvertakenError:
            if settings.as_of_ms is None:
                raise
            splits = _by_time(conn, table, request, reader, stretches)
    splits = enough(table, splits, request)
    told = summary(info, request, splits, of_all, _share(cold, splits))
    return Plan(tuple(splits), told, stretches=None if is_newest else stretches)


def _check_still_missing(table: Table, request: ReadRequest) -> None:
    """The lake is asked before the server is: its first snapshot may have come between the two questions."""
    reader = open_reader(table.info, request.options)
    if reader is not None and chosen_snapshot(table.info, reader, request.settings) is not None:
        raise OvertakenError(f"The first snapshot of {table.path} came into the lake while its read was planned.")


def _without_snapshot(conn: Connection, table: Table, request: ReadRequest, reader: LakeReader | None) -> Plan:
    """Nothing is in the lake, or was at the asked time."""
    as_of_ms = request.settings.as_of_ms
    if as_of_ms is None:
        told = conn.lake.snapshot(table.path)
        if told is not None:
            _check_still_missing(table, request)
            raise LakeUnavailableError(
                ErrorCode.LAKE_SNAPSHOT_NOT_EXIST,
                f"The server knows of snapshot {told.snapshot_id} of {table.path}, but the lake that is configured "
                "here does not have the table: name the right catalog by the options lake.*.",
            )
        if request.view is View.LAKE or request.settings.tiers is Tiers.LAKE:
            return Plan((), summary(table.info, request, ()))
        return _from_servers(table, request)
    chosen, of_all = chosen_partitions(table, request)
    stretches = _stretches(table, request, chosen)
    if any(start > 0 for start, _ in stretches.values()):
        found = _by_time(conn, table, request, reader, stretches)
        return Plan(tuple(found), summary(table.info, request, found, of_all))
    splits: Sequence[Split] = (
        [StateSplit(i.partition, i.bucket, as_of=stop, offsets=stop) for i, (_, stop) in stretches.items() if stop]
        if table.info.descriptor.has_primary_key
        else log_splits(stretches, request)
    )
    return Plan(tuple(splits), summary(table.info, request, splits, of_all))


def _by_time(
    conn: Connection,
    table: Table,
    request: ReadRequest,
    reader: LakeReader | None,
    stretches: Mapping[BucketId, tuple[int, int]],
) -> Sequence[Split]:
    """A log table by the times of its rows in the newest snapshot; what cannot be read so names what can be."""
    info, as_of_ms = table.info, request.settings.as_of_ms
    assert as_of_ms is not None
    newest = None if reader is None else next(iter(reader.snapshots()), None)
    if reader is None or newest is None or info.descriptor.has_primary_key:
        raise _gone_error(info, as_of_ms, reader)
    partitions = table.partitions() if info.descriptor.is_partitioned else ()
    ends = bucket_offsets(conn, info, newest, {p.id: p.name for p in partitions})
    names = {name for f in request.filters for name in columns_of(f)}
    files = reader.files(newest.snapshot_id, [TIMESTAMP, *names])
    found = splits_by_time(info, format_name(info), newest, files, ends, stretches, request)
    if found is None:
        raise _gone_error(info, as_of_ms, reader)
    return found


def _stretches(
    table: Table, request: ReadRequest, chosen: list[PartitionInfo] | None, tiered: Mapping[BucketId, int] | None = None
) -> dict[BucketId, tuple[int, int]]:
    """Where each log begins, and where it ends or ended at the asked time.

    Of partitions that the lake has wholly, as `tiered` says, nothing of the log is read: it is not asked where they
    begin, and they begin where they end.
    """
    as_of_ms = request.settings.as_of_ms
    if not table.info.descriptor.is_partitioned and as_of_ms is None:
        return table.stretches()
    stops: Mapping[BucketId, int] = table.offsets("latest", partitions=chosen)
    if as_of_ms is not None:
        stops = _offsets_since(table, as_of_ms + 1, chosen, stops)
        tiered = None
    hot = {id_.partition for id_, stop in stops.items() if tiered is None or tiered.get(id_, -1) < stop}
    asked = None if chosen is None else [p for p in chosen if p.name in hot]
    starts = table.offsets("earliest", partitions=asked) if hot else {}
    return {id_: (starts.get(id_, stop), stop) for id_, stop in stops.items()}


def _gone_error(info: TableInfo, as_of_ms: int, reader: LakeReader | None) -> LakewardError:
    known: list[LakeSnapshot] = [] if reader is None else reader.snapshots()
    oldest = f"the oldest that can be read is {_time(known[-1].committed_ms)}" if known else "nothing older can be read"
    between = [s.committed_ms for s in known if s.committed_ms <= as_of_ms]
    if between:
        oldest = f"the nearest before it that can be read is {_time(between[0])}, {oldest}"
    return ErrorCode.INVALID_TIMESTAMP.error(
        f"{info.path} cannot be read as of {_time(as_of_ms)}: part of its log up to then is gone; {oldest}."
    )


def _time(ms: int) -> str:
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC).isoformat(sep=" ", timespec="milliseconds")


def _share(cold: ColdPart, splits: Sequence[Split]) -> LakeShare:
    ours = [s for s in splits if isinstance(s, LakeSplit)]
    return LakeShare(
        cold.format,
        cold.snapshot_id,
        sum(len(s.files) for s in ours),
        cold.files_in_all,
        sum(s.lake_rows for s in ours),
        sum(s.lake_bytes for s in ours),
        dict(sorted(Counter(s.tier for s in splits).items())),
    )


def _check_log_suffices(table: Table, request: ReadRequest, wrong: LakeUnavailableError) -> None:
    """Go on without the lake only where nothing is missing then."""
    settings = request.settings
    if request.view is View.LAKE or settings.travels or settings.tiers is Tiers.LAKE:
        raise wrong
    if table.info.descriptor.has_primary_key:
        return  # the server's state is whole
    begun = [id_ for id_, start in table.offsets("earliest").items() if start > 0]
    if begun:
        raise LakewardError(
            wrong.code,
            f"{wrong.message.rstrip('.')}; and the log alone no longer has all rows of {table.path} (bucket {begun[0]} "
            "begins late). Name the lake's catalog by the options lake.*, or read what is there with scan.tiers=log.",
        ) from wrong


# -- the servers alone ------------------------------------------------------------------------------------------------


def _from_servers(table: Table, request: ReadRequest) -> Plan:
    chosen, of_all = chosen_partitions(table, request)
    is_state = request.view is View.ROWS and table.info.descriptor.has_primary_key
    ranges, in_all = _ranges(table, request, chosen, is_state=is_state)
    splits: Sequence[Split]
    if is_state:
        splits = [
            StateSplit(id_.partition, id_.bucket, offsets=stop - start)
            for id_, (start, stop) in ranges.items()
            if stop > 0
        ]
    else:
        splits = enough(table, log_splits(ranges, request), request)
    told = replace(summary(table.info, request, splits, of_all), log_offsets_in_all=in_all)
    return Plan(tuple(splits), told)


def _ranges(
    table: Table, request: ReadRequest, chosen: list[PartitionInfo] | None, *, is_state: bool
) -> tuple[dict[BucketId, tuple[int, int]], int | None]:
    """The stretch of each bucket's log that is read, and what the logs hold if filters leave out some of it.

    `scan.startup.mode=timestamp` holds for bounded reads too.
    """
    starts = table.offsets("earliest", partitions=chosen)
    stops = table.offsets("latest", partitions=chosen)
    ranges = {id_: (starts[id_], stop) for id_, stop in stops.items()}
    if is_state:
        return ranges, None
    in_all = sum(stop - start for start, stop in ranges.values())
    settings = request.settings
    times = [settings.start_ms] if settings.mode is StartupMode.TIMESTAMP else []
    if request.view is not View.ROWS:
        bounds = offset_bounds(request.filters)
        ranges = {id_: bounds.clip(*stretch) for id_, stretch in ranges.items()}
        times.append(bounds.from_ms)
    since_ms = max((t for t in times if t is not None), default=None)
    if since_ms is not None:
        begins = _offsets_since(table, since_ms, chosen, stops)
        ranges = {id_: (max(start, begins[id_]), stop) for id_, (start, stop) in ranges.items()}
    left = sum(max(stop - start, 0) for start, stop in ranges.values())
    return ranges, in_all if left < in_all else None


def _offsets_since(
    table: Table, time_ms: int, chosen: list[PartitionInfo] | None, stops: Mapping[BucketId, int]
) -> Mapping[BucketId, int]:
    try:
        return table.offsets(Timestamp(time_ms), partitions=chosen)
    except LakewardError as wrong:
        if wrong.code is not ErrorCode.INVALID_TIMESTAMP:
            raise
        return stops  # a time that is yet to come: no row is as young
