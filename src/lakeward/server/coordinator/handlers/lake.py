"""Handlers for tiering services and for readers of the lake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages import lake as messages
from lakeward.protocol.messages.shared import ErrorResponse, PbBucketOffset, PbTablePath
from lakeward.rpc.error_answers import refusal
from lakeward.server.books.lake_snapshots import SnapshotEntry
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers, path_of
from lakeward.server.coordinator.lake.tiering import Report


class LakeHandlers:
    """Heartbeats, and snapshots of the lake."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._catalog = coordinator.catalog
        self._tables = coordinator.tables
        self._tiering = coordinator.tiering
        self._snapshots = coordinator.lake_snapshots
        self._clock = coordinator.clock

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.LAKE_TIERING_HEARTBEAT: self.heartbeat,
            Api.PREPARE_LAKE_TABLE_SNAPSHOT: self.prepare,
            Api.COMMIT_LAKE_TABLE_SNAPSHOT: self.commit,
            Api.GET_LAKE_SNAPSHOT: self.snapshot,
        }

    def heartbeat(
        self, request: messages.LakeTieringHeartbeatRequest, _: Caller
    ) -> messages.LakeTieringHeartbeatResponse:
        """LAKE_TIERING_HEARTBEAT: failed, then tiering, then finished, then new work; each table's error is its own."""
        tiering = self._tiering
        forced = set(request.force_finished_tables)
        failed = _answer_entries(request.failed_tables, tiering.fail)
        renewed = _answer_entries(request.tiering_tables, tiering.renew)
        finished = _answer_entries(
            request.finished_tables, lambda report: tiering.finish(report, forced=report.table_id in forced)
        )
        taken = tiering.take() if request.request_table else None
        return messages.LakeTieringHeartbeatResponse(
            coordinator_epoch=tiering.coordinator_epoch,
            tiering_table=None if taken is None else _assignment(*taken),
            tiering_table_resp=renewed,
            finished_table_resp=finished,
            failed_table_resp=failed,
        )

    def prepare(
        self, request: messages.PrepareLakeTableSnapshotRequest, _: Caller
    ) -> messages.PrepareLakeTableSnapshotResponse:
        """PREPARE_LAKE_TABLE_SNAPSHOT: one path, or one error, per table."""
        ignore_previous = bool(request.ignore_previous_table_offsets)
        return messages.PrepareLakeTableSnapshotResponse(
            prepare_lake_table_resp=tuple(
                self._answer_prepare(asked, ignore_previous) for asked in request.bucket_offsets
            )
        )

    def commit(
        self, request: messages.CommitLakeTableSnapshotRequest, _: Caller
    ) -> messages.CommitLakeTableSnapshotResponse:
        """COMMIT_LAKE_TABLE_SNAPSHOT: by prepared files; or by offsets, as services before 0.9 do."""
        if not request.lake_table_snapshot_metadata:
            answers = [self._committed_offsets(info) for info in request.tables_req]
        else:
            answers = [self._answer_commit(metadata) for metadata in request.lake_table_snapshot_metadata]
            told = {metadata.table_id for metadata in request.lake_table_snapshot_metadata}
            answers += [_without_metadata(info) for info in request.tables_req if info.table_id not in told]
        return messages.CommitLakeTableSnapshotResponse(table_resp=tuple(answers))

    def snapshot(self, request: messages.GetLakeSnapshotRequest, _: Caller) -> messages.GetLakeSnapshotResponse:
        """GET_LAKE_SNAPSHOT: the latest, the newest that is readable, or the one with an id."""
        table = self._tables.get(path_of(request.table_path))
        readable = bool(request.readable)
        if readable and request.snapshot_id is not None:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                "Ask for a lake snapshot by its id or for the readable one, not for both."
            )
        found = self._snapshots.find(table, request.snapshot_id, readable=readable)
        offsets = self._snapshots.offsets(table, found, readable=readable)
        return messages.GetLakeSnapshotResponse(
            table_id=table.table_id,
            snapshot_id=found.snapshot_id,
            bucket_snapshots=tuple(
                messages.PbLakeSnapshotForBucket(
                    partition_id=bucket.partition_id, bucket_id=bucket.bucket, log_offset=offset
                )
                for bucket, offset in offsets.items()
            ),
        )

    # -- one table each

    def _answer_prepare(
        self, asked: messages.PbTableOffsets, ignore_previous: bool
    ) -> messages.PbPrepareLakeTableRespForTable:
        try:
            table = self._table(asked.table_id, asked.table_path)
            path = self._prepare(table, asked.bucket_offsets, ignore_previous)
        except LakewardError as wrong:
            return refusal(messages.PbPrepareLakeTableRespForTable, wrong, table_id=asked.table_id)
        return messages.PbPrepareLakeTableRespForTable(table_id=asked.table_id, lake_table_offsets_path=path)

    def _answer_commit(
        self, metadata: messages.PbLakeTableSnapshotMetadata
    ) -> messages.PbCommitLakeTableSnapshotRespForTable:
        snapshot = SnapshotEntry(
            metadata.snapshot_id,
            metadata.tiered_bucket_offsets_file_path,
            metadata.readable_bucket_offsets_file_path,
            self._clock.now_ms(),
        )
        try:
            self._snapshots.commit(self._table(metadata.table_id), snapshot, metadata.earliest_snapshot_id_to_keep)
        except LakewardError as wrong:
            return _refusal(metadata.table_id, wrong)
        return messages.PbCommitLakeTableSnapshotRespForTable(table_id=metadata.table_id)

    def _committed_offsets(
        self, info: messages.PbLakeTableSnapshotInfo
    ) -> messages.PbCommitLakeTableSnapshotRespForTable:
        try:
            table = self._table(info.table_id, info.table_path)
            path = self._prepare(table, info.buckets_req, ignore_previous=False)
            snapshot = SnapshotEntry(info.snapshot_id, path, path, self._clock.now_ms())
            self._snapshots.commit(table, snapshot, keep_from_id=None)
        except LakewardError as wrong:
            return _refusal(info.table_id, wrong)
        return messages.PbCommitLakeTableSnapshotRespForTable(table_id=table.table_id)

    def _prepare(
        self,
        table: TableInfo,
        asked: Iterable[PbBucketOffset | messages.PbLakeTableOffsetForBucket],
        ignore_previous: bool,
    ) -> str:
        offsets = dict(self._known_offsets(table, asked))
        before = {} if ignore_previous else self._snapshots.tiered_offsets(table)
        there = {bucket: offset for bucket, offset in before.items() if self._catalog.bucket_exists(bucket)}
        return self._snapshots.prepare(table, there, offsets)

    def _known_offsets(
        self, table: TableInfo, asked: Iterable[PbBucketOffset | messages.PbLakeTableOffsetForBucket]
    ) -> Iterator[tuple[TableBucket, int]]:
        for one in asked:
            bucket = TableBucket(table.table_id, one.partition_id, one.bucket_id)
            partitioned = one.partition_id is not None
            if not 0 <= one.bucket_id < table.bucket_count or partitioned != table.descriptor.is_partitioned:
                raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Table {table.path} has no such bucket: {bucket}.")
            if one.log_end_offset is not None and one.log_end_offset >= 0:
                yield bucket, one.log_end_offset

    def _table(self, table_id: int | None, path: PbTablePath | None = None) -> TableInfo:
        if table_id is None:
            if path is None:
                raise ErrorCode.TABLE_NOT_EXIST.error("A lake snapshot names neither the id of its table nor its path.")
            return self._tables.get(path_of(path))
        table = self._catalog.table_by_id(table_id)
        if table is None:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"There is no table with id {table_id}.")
        if path is not None and path_of(path) != table.path:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"The table with id {table_id} is {table.path}, not {path_of(path)}.")
        return table


def _answer_entries(
    entries: Iterable[messages.PbHeartbeatReqForTable], take: Callable[[Report], None]
) -> tuple[messages.PbHeartbeatRespForTable, ...]:
    answers = []
    for entry in entries:
        error = None
        try:
            take(Report(entry.table_id, entry.coordinator_epoch, entry.tiering_epoch))
        except LakewardError as wrong:
            error = refusal(ErrorResponse, wrong)
        answers.append(messages.PbHeartbeatRespForTable(table_id=entry.table_id, error=error))
    return tuple(answers)


def _assignment(table: TableInfo, epoch: int) -> messages.PbLakeTieringTableInfo:
    path = PbTablePath(database_name=table.path.database, table_name=table.path.table)
    return messages.PbLakeTieringTableInfo(table_id=table.table_id, table_path=path, tiering_epoch=epoch)


def _without_metadata(info: messages.PbLakeTableSnapshotInfo) -> messages.PbCommitLakeTableSnapshotRespForTable:
    wrong = ErrorCode.UNKNOWN_SERVER_ERROR.error("The snapshot of this table was committed without its offsets file.")
    return _refusal(info.table_id, wrong)


def _refusal(table_id: int | None, wrong: LakewardError) -> messages.PbCommitLakeTableSnapshotRespForTable:
    kind = messages.PbCommitLakeTableSnapshotRespForTable
    return refusal(kind, wrong, table_id=-1 if table_id is None else table_id)
