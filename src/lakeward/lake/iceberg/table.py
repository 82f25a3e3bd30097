"""IcebergTable: the table as the driver sees it. Snapshots are read from the lake, rounds are committed to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pyiceberg.exceptions import CommitFailedException, ValidationException
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from lakeward.errors import ErrorCode
from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.iceberg.commit.compaction import compact, compact_fully, untidy
from lakeward.lake.iceberg.commit.expiry import expire, orphans
from lakeward.lake.iceberg.commit.live_files import LiveFiles, live_files
from lakeward.lake.iceberg.commit.remembering_transaction import RememberingTransaction
from lakeward.lake.iceberg.commit.round_snapshot import RoundSnapshot, newest_round
from lakeward.lake.iceberg.commit.tidiness import worst_places
from lakeward.lake.iceberg.read.reader import IcebergReader
from lakeward.lake.iceberg.read.snapshot_forms import describe_snapshot
from lakeward.lake.iceberg.read.table_document import TableDocument
from lakeward.lake.iceberg.schema.format_version import check_readable
from lakeward.lake.iceberg.schema.layout import spec_columns
from lakeward.lake.iceberg.schema.places import Places
from lakeward.lake.iceberg.write.data_writer import Writing, WrittenFiles
from lakeward.lake.port import Compaction, LakePlace, LakeSnapshot
from lakeward.lake.round_properties import RoundProperties
from lakeward.model.table import TableInfo


class IcebergTable:
    """One table; without `info` it can be read but not written."""

    def __init__(self, table: Table, info: TableInfo | None = None) -> None:
        self._table = table
        self._info = info
        self._planned_on = table.metadata.current_snapshot_id

    def latest(self) -> LakeSnapshot | None:
        """The newest snapshot of a tiering service; another writer's append is looked through."""
        self._table.refresh()
        try:
            found = newest_round(self._table.metadata)
        except KeyError:
            name = ".".join(self._table.name())
            raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(
                f"The lake's table {name} no longer has the snapshot of its last tiering round, so it cannot be known "
                "which rows it holds: it was expired by somebody. Drop the lake's table to have it written anew."
            ) from None
        return None if found is None else _describe(found)

    def reader(self, info: TableInfo) -> IcebergReader:
        """The table as it is now, for readers."""
        self._table.refresh()
        check_readable(self._table.metadata.format_version, info.path)  # pyiceberg reads more than it writes down again
        document = TableDocument.of_json(self._table.metadata.model_dump_json(), info.path)
        return IcebergReader(document, self._table.io, info)

    def writing(self, places: Sequence[LakePlace]) -> list[bytes]:
        """The table as the tasks of these places must know it."""
        plain = Writing(self._table.metadata.model_dump_json(), dict(self._table.io.properties))
        info = self._written_info()
        self._planned_on = self._table.metadata.current_snapshot_id
        if not info.descriptor.has_primary_key:
            return [plain.to_bytes()] * len(places)
        files = self._files_by_place(info)
        rewritten = worst_places({place: files[place] for place in places if place in files})
        return [
            replace(
                plain,
                keys=info.schema.primary_key,
                data_paths=tuple(f.file_path for f in files.get(place, LiveFiles()).data),
                delete_paths=tuple(f.file_path for f in files.get(place, LiveFiles()).position_deletes),
                rewrite=place in rewritten,
            ).to_bytes()
            for place in places
        ]

    def _files_by_place(self, info: TableInfo) -> dict[LakePlace, LiveFiles]:
        places, found = Places(spec_columns(self._table.spec(), self._table.schema()), info), {}
        for values, files in live_files(self._table.current_snapshot(), self._table.io).items():
            if files.equality_deletes:
                raise ErrorCode.INVALID_TABLE.error(
                    f"{info.path} holds equality deletes of another tiering service in the lake, which this one does "
                    f"not read. Apply them first: lakeward tables compact {info.path}"
                )
            found[places.of(values)] = files
        return found

    def commit(self, written: Sequence[bytes], round_: RoundProperties, after: int | None) -> LakeSnapshot:
        """One snapshot with all files of a round."""
        info = self._written_info()
        known = self.latest()
        if (None if known is None else known.snapshot_id) != after:
            raise LakeConflictError(f"Another tiering round of {info.path} was committed to the lake first.")
        spec_id = self._table.metadata.default_spec_id
        try:
            with RememberingTransaction(self._table) as change:
                round_snapshot = RoundSnapshot(change, self._table.io, round_.to_properties())
                for part in (WrittenFiles.of_bytes(data, spec_id) for data in written):
                    _add(round_snapshot, part)
                round_snapshot.expect_snapshot(self._planned_on)
                round_snapshot.commit()
        except (CommitFailedException, ValidationException) as wrong:
            raise LakeConflictError(f"The lake refused a round of {info.path}: {wrong}") from wrong
        snapshot = self._table.snapshot_by_id(round_snapshot.snapshot_id)
        assert snapshot is not None
        return _describe(snapshot)

    def discard(self, written: Sequence[bytes]) -> None:
        """Remove the files of a round that will not be committed."""
        for part in written:
            files = WrittenFiles.of_bytes(part, self._table.metadata.default_spec_id)
            for file in (*files.data, *files.deletes):
                self._table.io.delete(file.file_path)

    # -- housekeeping -------------------------------------------------------------------------------------------------

    def compact(self) -> int:
        """Fewer, larger files. A primary key table needs none: its own rounds tidy it up."""
        info = self._written_info()
        return 0 if info.descriptor.has_primary_key else compact(self._table, info).before

    def untidy(self) -> Compaction:
        """What `compact_fully` would rewrite."""
        return untidy(self._table, self._written_info())

    def compact_fully(self, on_step: Callable[[Compaction], None]) -> Compaction:
        """Everything that could be fewer files, deletes applied."""
        return compact_fully(self._table, self._written_info(), on_step)

    def expire(self, now_ms: int, keep: Iterable[int] = ()) -> int:
        """Drop snapshots that are too old by `history.expire.*`; how many."""
        try:
            return expire(self._table, now_ms, keep).snapshots
        except CommitFailedException as wrong:
            raise LakeConflictError(f"Snapshots of {'.'.join(self._table.name())} were not expired: {wrong}") from wrong

    def orphans(self, older_than_ms: int) -> list[str]:
        """Files of ours that no snapshot knows."""
        return orphans(self._table, older_than_ms)

    def remove(self, paths: Iterable[str]) -> None:
        """Delete orphans."""
        for path in paths:
            self._table.io.delete(path)

    def _written_info(self) -> TableInfo:
        assert self._info is not None, "a table that is written comes from `ensure`"
        return self._info


def _add(round_snapshot: RoundSnapshot, part: WrittenFiles) -> None:
    for file in part.data:
        round_snapshot.append_data_file(file)
    for file in part.deletes:
        round_snapshot.add_delete_file(file)
    round_snapshot.requires(part.referenced)
    round_snapshot.remove_files(part.replaced)


def _describe(snapshot: Snapshot) -> LakeSnapshot:
    assert snapshot.summary is not None
    return describe_snapshot(snapshot.snapshot_id, snapshot.timestamp_ms, dict(snapshot.summary.additional_properties))
