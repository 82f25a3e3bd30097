"""A coordinator with a lake, and a tiering service that asks it things."""

from __future__ import annotations

from typing import Any

from coordinator_world import World, path

from lakeward.protocol.api import Api
from lakeward.protocol.messages import lake as messages
from lakeward.protocol.messages.shared import PbBucketOffset
from lakeward.server.coordinator.lake.tiering_states import TieringState

FRESHNESS_MS = 5000
TIERED = {"table.datalake.enabled": "true", "table.datalake.freshness": "5s"}


class LakeWorld(World):
    """A coordinator with a lake and a tiering service that asks it things."""

    def __init__(self, store: Any = None, clock: Any = None, **settings: str) -> None:
        super().__init__(store, clock, **settings)
        self.settings = settings

    def beat(self, **lists: Any) -> messages.LakeTieringHeartbeatResponse:
        """A heartbeat; lists of (table id, tiering epoch[, coordinator epoch])."""
        entries = {
            name: tuple(
                messages.PbHeartbeatReqForTable(
                    table_id=entry[0],
                    tiering_epoch=entry[1],
                    coordinator_epoch=entry[2] if len(entry) > 2 else self.coordinator.epoch,
                )
                for entry in lists.pop(name, ())
            )
            for name in ("tiering_tables", "finished_tables", "failed_tables")
        }
        answer = self.ask(Api.LAKE_TIERING_HEARTBEAT, messages.LakeTieringHeartbeatRequest(**entries, **lists))
        assert isinstance(answer, messages.LakeTieringHeartbeatResponse)
        return answer

    def take(self) -> tuple[str, int] | None:
        """Ask for a table: its name and epoch."""
        found = self.beat(request_table=True).tiering_table
        return None if found is None else (found.table_path.table_name, found.tiering_epoch)

    def take_due(self) -> tuple[str, int] | None:
        """Ask for a table after the freshness has passed."""
        self.clock.advance(FRESHNESS_MS)
        return self.take()

    def state(self, name: str = "t") -> TieringState | None:
        """The state of a table."""
        found = self.coordinator.tiering.machine.table(self.table(name).table_id)
        return None if found is None else found.state

    def prepare(self, offsets: dict[Any, int | None], name: str = "t", **more: Any) -> Any:
        """Prepare a snapshot; a bucket is a number or (partition id, number)."""
        table = messages.PbTableOffsets(
            table_id=more.pop("table_id", None) or self.table(name).table_id,
            table_path=path(name),
            bucket_offsets=tuple(
                PbBucketOffset(partition_id=p, bucket_id=b, log_end_offset=offset)
                for (p, b), offset in ((_bucket(key), value) for key, value in offsets.items())
            ),
        )
        request = messages.PrepareLakeTableSnapshotRequest(bucket_offsets=(table,), **more)
        (answer,) = self.ask(Api.PREPARE_LAKE_TABLE_SNAPSHOT, request).prepare_lake_table_resp
        return answer

    def prepared(self, offsets: dict[Any, int | None], name: str = "t", **more: Any) -> str:
        """The path of a prepared snapshot."""
        answer = self.prepare(offsets, name, **more)
        assert answer.error_code is None, answer
        assert answer.table_id == self.table(name).table_id
        return str(answer.lake_table_offsets_path)

    def commit(self, snapshot_id: int, tiered: str, name: str = "t", **more: Any) -> int:
        """Commit a prepared snapshot; the code it is refused with, or 0."""
        metadata = messages.PbLakeTableSnapshotMetadata(
            table_id=self.table(name).table_id,
            snapshot_id=snapshot_id,
            tiered_bucket_offsets_file_path=tiered,
            readable_bucket_offsets_file_path=more.pop("readable", tiered),
            earliest_snapshot_id_to_keep=more.pop("keep_from", None),
        )
        request = messages.CommitLakeTableSnapshotRequest(lake_table_snapshot_metadata=(metadata,))
        (answer,) = self.ask(Api.COMMIT_LAKE_TABLE_SNAPSHOT, request).table_resp
        return answer.error_code or 0

    def snapshot(self, name: str = "t", **how: Any) -> tuple[int, dict[Any, int]]:
        """The id of a snapshot and its offsets by bucket."""
        answer = self.ask(Api.GET_LAKE_SNAPSHOT, messages.GetLakeSnapshotRequest(table_path=path(name), **how))
        found = {
            b.bucket_id if b.partition_id is None else (b.partition_id, b.bucket_id): b.log_offset
            for b in answer.bucket_snapshots
        }
        return answer.snapshot_id, found

    def snapshot_code(self, name: str = "t", **how: Any) -> int:
        """The code with which a question for a snapshot is refused."""
        request = messages.GetLakeSnapshotRequest(table_path=path(name), **how)
        return int(self.refusal(Api.GET_LAKE_SNAPSHOT, request).code.value)

    def again(self) -> LakeWorld:
        """The coordinator after a restart."""
        return LakeWorld(self.store, self.clock, **self.settings)


def _bucket(key: Any) -> tuple[int | None, int]:
    return key if isinstance(key, tuple) else (None, key)
