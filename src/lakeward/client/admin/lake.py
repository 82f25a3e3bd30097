"""Lake: what a tiering service and a reader of the lake ask a coordinator, ours or Apache Fluss's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeward.client.admin.admin import path_of
from lakeward.client.cluster.cluster import Cluster, pb_path
from lakeward.client.cluster.loop_thread import LoopThread
from lakeward.errors import ErrorCode, LakewardError, NotFoundError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages import lake as messages
from lakeward.protocol.messages.shared import PbBucketOffset

#: Given as `keep_from`: forget no older snapshot.
KEEP_ALL = -1


@dataclass(frozen=True, slots=True)
class TieringRound:
    """A table that a tiering service was given; the epochs fence it once another round has begun."""

    table_id: int
    path: TablePath
    coordinator_epoch: int
    tiering_epoch: int


@dataclass(frozen=True, slots=True)
class LakeTotals:
    """What a lake table holds in all, for the coordinator's metrics."""

    bytes: int | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class HeartbeatAnswer:
    """What the coordinator says: its epoch, a table to tier, and the rounds it no longer knows, by table."""

    coordinator_epoch: int
    assigned: TieringRound | None
    refused: Mapping[int, LakewardError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportedSnapshot:
    """A snapshot as it was reported to the server: the end of each bucket in it."""

    table_id: int
    snapshot_id: int
    offsets: Mapping[TableBucket, int]


class AsyncLake:
    """The lake calls of a connection."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def heartbeat(
        self,
        *,
        tiering: Iterable[TieringRound] = (),
        finished: Mapping[TieringRound, LakeTotals | None] | Iterable[TieringRound] = (),
        failed: Iterable[TieringRound] = (),
        forced: Collection[TieringRound] = (),
        wants_table: bool = False,
    ) -> HeartbeatAnswer:
        """Report rounds and ask for a table. `forced` are those of `finished` that stopped early and must go on."""
        totals = finished if isinstance(finished, Mapping) else dict.fromkeys(finished)
        ask = messages.LakeTieringHeartbeatRequest(
            tiering_tables=tuple(_entry(one) for one in tiering),
            finished_tables=tuple(_entry(one, told) for one, told in totals.items()),
            failed_tables=tuple(_entry(one) for one in failed),
            request_table=wants_table or None,
            force_finished_tables=tuple(one.table_id for one in forced),
        )
        answer = await self._cluster.ask(Api.LAKE_TIERING_HEARTBEAT, ask)
        return HeartbeatAnswer(answer.coordinator_epoch, _assignment(answer), _refusals(answer))

    async def prepare(
        self,
        path: str | TablePath,
        table_id: int,
        offsets: Mapping[TableBucket, int],
        *,
        ignore_previous: bool = False,
    ) -> str:
        """Have the offsets of a snapshot to come written to a file, over those of the last one; returns its path."""
        table = messages.PbTableOffsets(
            table_id=table_id,
            table_path=pb_path(path_of(path)),
            bucket_offsets=tuple(
                PbBucketOffset(partition_id=b.partition_id, bucket_id=b.bucket, log_end_offset=offset)
                for b, offset in offsets.items()
            ),
        )
        ask = messages.PrepareLakeTableSnapshotRequest(
            bucket_offsets=(table,), ignore_previous_table_offsets=ignore_previous or None
        )
        answer = await self._cluster.ask(Api.PREPARE_LAKE_TABLE_SNAPSHOT, ask)
        told = _only(answer.prepare_lake_table_resp, path)
        if told.lake_table_offsets_path is None:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"The server prepared no offsets file for table {path}.")
        return str(told.lake_table_offsets_path)

    async def commit(
        self,
        table_id: int,
        snapshot_id: int,
        offsets_path: str,
        *,
        readable_path: str | None = None,
        keep_from: int | None = None,
        new_offsets: Mapping[TableBucket, int] | None = None,
        max_times_ms: Mapping[TableBucket, int] | None = None,
    ) -> None:
        """Tell that the lake has a snapshot, with the file that `prepare` named.

        `readable_path` is the file of what can be read in it, where that is known. `keep_from` is the oldest snapshot
        to remember besides this one, KEEP_ALL for all; without it only this one. `new_offsets` and `max_times_ms` are
        of the buckets that this round moved: Apache Fluss tells them to its tablet servers.
        """
        told = messages.PbLakeTableSnapshotInfo(
            table_id=table_id,
            snapshot_id=snapshot_id,
            buckets_req=tuple(
                messages.PbLakeTableOffsetForBucket(
                    partition_id=b.partition_id,
                    bucket_id=b.bucket,
                    log_end_offset=offset,
                    max_timestamp=(max_times_ms or {}).get(b),
                )
                for b, offset in (new_offsets or {}).items()
            ),
        )
        metadata = messages.PbLakeTableSnapshotMetadata(
            table_id=table_id,
            snapshot_id=snapshot_id,
            tiered_bucket_offsets_file_path=offsets_path,
            readable_bucket_offsets_file_path=readable_path,
            earliest_snapshot_id_to_keep=keep_from,
        )
        ask = messages.CommitLakeTableSnapshotRequest(
            tables_req=(told,) if new_offsets else (), lake_table_snapshot_metadata=(metadata,)
        )
        answer = await self._cluster.ask(Api.COMMIT_LAKE_TABLE_SNAPSHOT, ask)
        _only(answer.table_resp, table_id)

    async def snapshot(
        self, path: str | TablePath, *, snapshot_id: int | None = None, readable: bool = False
    ) -> ReportedSnapshot | None:
        """The latest snapshot, the newest that is readable, or the one with an id; None when there is none."""
        ask = messages.GetLakeSnapshotRequest(
            table_path=pb_path(path_of(path)), snapshot_id=snapshot_id, readable=readable or None
        )
        try:
            answer = await self._cluster.ask(Api.GET_LAKE_SNAPSHOT, ask)
        except NotFoundError as wrong:
            if wrong.code is ErrorCode.LAKE_SNAPSHOT_NOT_EXIST:
                return None
            raise
        offsets = {
            TableBucket(answer.table_id, b.partition_id, b.bucket_id): b.log_offset
            for b in answer.bucket_snapshots
            if b.log_offset is not None
        }
        return ReportedSnapshot(answer.table_id, answer.snapshot_id, offsets)


class Lake:
    """The lake calls of a blocking connection; see AsyncLake."""

    def __init__(self, loop: LoopThread, inner: AsyncLake) -> None:
        self._loop = loop
        self._inner = inner

    def heartbeat(self, **reports: Any) -> HeartbeatAnswer:
        """Report rounds and ask for a table; takes what AsyncLake.heartbeat takes."""
        return self._loop.run(self._inner.heartbeat(**reports))

    def prepare(
        self,
        path: str | TablePath,
        table_id: int,
        offsets: Mapping[TableBucket, int],
        *,
        ignore_previous: bool = False,
    ) -> str:
        """Have the offsets of a snapshot to come written to a file; returns its path."""
        return self._loop.run(self._inner.prepare(path, table_id, offsets, ignore_previous=ignore_previous))

    def commit(self, table_id: int, snapshot_id: int, offsets_path: str, **more: Any) -> None:
        """Tell that the lake has a snapshot; takes what AsyncLake.commit takes."""
        self._loop.run(self._inner.commit(table_id, snapshot_id, offsets_path, **more))

    def snapshot(
        self, path: str | TablePath, *, snapshot_id: int | None = None, readable: bool = False
    ) -> ReportedSnapshot | None:
        """The latest snapshot, the newest that is readable, or the one with an id; None when there is none."""
        return self._loop.run(self._inner.snapshot(path, snapshot_id=snapshot_id, readable=readable))


def _entry(one: TieringRound, totals: LakeTotals | None = None) -> messages.PbHeartbeatReqForTable:
    stats = None if totals is None else messages.PbLakeTieringStats(file_size=totals.bytes, record_count=totals.rows)
    return messages.PbHeartbeatReqForTable(
        table_id=one.table_id,
        coordinator_epoch=one.coordinator_epoch,
        tiering_epoch=one.tiering_epoch,
        lake_tiering_stats=stats,
    )


def _assignment(answer: messages.LakeTieringHeartbeatResponse) -> TieringRound | None:
    given = answer.tiering_table
    if given is None:
        return None
    path = TablePath(given.table_path.database_name, given.table_path.table_name)
    return TieringRound(given.table_id, path, answer.coordinator_epoch, given.tiering_epoch)


def _refusals(answer: messages.LakeTieringHeartbeatResponse) -> dict[int, LakewardError]:
    entries = (*answer.failed_table_resp, *answer.tiering_table_resp, *answer.finished_table_resp)
    return {one.table_id: _error(one.error) for one in entries if one.error is not None and one.error.error_code}


def _only(entries: Collection[Any], what: object) -> Any:
    """The answer for the one table that was asked about; its error is raised."""
    if len(entries) != 1:
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"The server answered {len(entries)} times for table {what}.")
    (entry,) = entries
    if entry.error_code:
        raise _error(entry)
    return entry


def _error(told: Any) -> LakewardError:
    return ErrorCode.of_wire(told.error_code).error(told.error_message)
