"""PaimonTable: the table as the driver sees it. Snapshots are read from the lake, rounds are committed to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from lakeward.errors import ErrorCode
from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.files.s3_path import LakePath, lake_path
from lakeward.lake.paimon.manifest.commit import Change, Committer, live_files
from lakeward.lake.paimon.manifest.expiry import expire, orphans
from lakeward.lake.paimon.manifest.manifests import FileEntry, Manifests
from lakeward.lake.paimon.manifest.snapshot_forms import USER, describe_snapshot, is_round
from lakeward.lake.paimon.manifest.snapshots import ROUND_TAG, PaimonSnapshot, Snapshots
from lakeward.lake.paimon.read.reader import PaimonReader
from lakeward.lake.paimon.schema.binary_row import of_binary
from lakeward.lake.paimon.schema.place_directory import place_directory, place_of
from lakeward.lake.paimon.schema.schema_file import newest_schema
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.paimon.write.compaction import mergings
from lakeward.lake.paimon.write.full_compaction import UntidyFiles, first_step, rewrite, untidy_files
from lakeward.lake.paimon.write.log_compaction import one_pass, rewrite_files, small_files
from lakeward.lake.paimon.write.writing import Writing, WrittenFiles
from lakeward.lake.port import Compaction, LakePlace, LakeSnapshot, Tally
from lakeward.lake.round_properties import RoundProperties
from lakeward.model.table import TableInfo
from lakeward.runtime.clock import Clock

#: Who compacts: not the tiering service, whose snapshots say how far it is.
_HOUSEKEEPER = "lakeward-housekeeper"
#: How often in a row a full compaction begins again when it was overtaken.
_ATTEMPTS = 5


class PaimonTable:
    """One table; without a shape it can be read but not written."""

    def __init__(
        self, directory: LakePath, clock: Clock, storage: Mapping[str, str], shape: TableShape | None = None
    ) -> None:
        self._directory = directory
        self._storage = storage
        self._snapshots = Snapshots(directory)
        self._clock = clock
        self._shape = shape

    def latest(self) -> LakeSnapshot | None:
        """The newest snapshot of a tiering service; another writer's are looked through."""
        found = self._round_at(self._snapshots.newest())
        if found is None:
            return None
        if self._shape is not None and found != self._snapshots.with_tag(ROUND_TAG):  # a crash came in between
            self._snapshots.tag(ROUND_TAG, found)
        return self._describe(found)

    def reader(self, info: TableInfo) -> PaimonReader:
        """The table as it is now, for readers."""
        schema = newest_schema(self._directory)
        assert schema is not None, "a table that was loaded has a schema"
        return PaimonReader(self._snapshots, TableShape.of(self._directory, schema, info, self._storage))

    def writing(self, places: Sequence[LakePlace]) -> list[bytes]:
        """The table as the tasks of these places must know it."""
        shape = self._written_shape()
        if not shape.keys:
            return [Writing(shape).to_bytes()] * len(places)
        files = self._files_by_place(shape)
        merged = mergings(shape, {place: files[place] for place in places if place in files})
        return [
            Writing(
                shape,
                max((f.file["_MAX_SEQUENCE_NUMBER"] + 1 for f in files.get(place, ())), default=0),
                merged.get(place),
            ).to_bytes()
            for place in places
        ]

    def commit(self, written: Sequence[bytes], round_: RoundProperties, after: int | None) -> LakeSnapshot:
        """One snapshot with all files of a round, and one more where it has merged files."""
        parts = [WrittenFiles.of_bytes(data) for data in written]
        properties = round_.to_properties()
        user = properties.pop(USER)
        committer = Committer(self._snapshots, self._manifests(), self._written_shape().schema_id, self._clock, user)

        def check(newest: PaimonSnapshot | None) -> None:
            known = self._round_at(newest)
            if (None if known is None else known.id) != after:
                raise LakeConflictError(f"Another tiering round of {self._name} was committed to the lake first.")

        added = Change("APPEND", [f for p in parts for f in p.new], [f for p in parts for f in p.changelog])
        made = committer.commit(added, properties, check)
        merged = [f for p in parts for f in p.merged_to]
        gone = [f.removal() for p in parts for f in p.merged_from]
        if gone:
            made = committer.commit_if_there(Change("COMPACT", [*gone, *merged]), properties) or made
        self._snapshots.tag(ROUND_TAG, made)
        return self._describe(made)

    def discard(self, written: Sequence[bytes]) -> None:
        """Remove the files of a round that will not be committed."""
        shape = self._written_shape()
        types = shape.types_of(shape.partition_keys)
        for part in (WrittenFiles.of_bytes(data) for data in written):
            for entry in (*part.new, *part.changelog, *part.merged_to):
                directory = place_directory(shape, of_binary(types, entry.partition), entry.bucket)
                (directory / entry.name).unlink(missing_ok=True)

    # -- housekeeping -------------------------------------------------------------------------------------------------

    def compact(self) -> int:
        """Fewer, larger files. A primary key table needs none: its own rounds tidy it up."""
        shape, newest = self._written_shape(), self._snapshots.newest()
        if shape.keys or newest is None or shape.options.get("write-only") == "true":
            return 0
        committer = Committer(self._snapshots, self._manifests(), shape.schema_id, self._clock, _HOUSEKEEPER)
        runs = list(one_pass(small_files(shape, live_files(self._manifests(), newest).values())))
        made = [rewrite_files(shape, run) for run in runs]
        gone = [entry.removal() for run in runs for entry in run]
        change = Change("COMPACT", [*gone, *(entry for files in made for entry in files.entries)])
        if gone and committer.commit_if_there(change, {}) is None:
            for files in made:
                files.abort()
            raise LakeConflictError(f"The compaction of {self._name} was overtaken.")
        return len(gone)

    def untidy(self) -> Compaction:
        """What `compact_fully` would rewrite."""
        found = self._untidy_files()
        before = sum((one.tally for one in found), Tally())
        return Compaction(len({one.place for one in found}), before, Tally(len(found)))

    def compact_fully(self, on_step: Callable[[Compaction], None]) -> Compaction:
        """Everything that could be fewer files; by key, one sorted run a place."""
        shape, done, attempts = self._written_shape(), Compaction(), 0
        committer = Committer(self._snapshots, self._manifests(), shape.schema_id, self._clock, _HOUSEKEEPER)
        tidied: set[tuple[bytes, int]] = set()  # once each: rounds may go on making small files for ever
        while step := first_step(one for one in self._untidy_files() if one.place not in tidied):
            made = [rewrite(shape, one) for one in step]
            change = [
                *(entry.removal() for one in step for entry in one.files),
                *(entry for files in made for entry in files.entries),
            ]
            snapshot = committer.commit_if_there(Change("COMPACT", change), {})
            if snapshot is None:
                for files in made:
                    files.abort()
                attempts += 1
                if attempts >= _ATTEMPTS:
                    raise LakeConflictError(f"The compaction of {self._name} was overtaken {attempts} times.")
                continue
            attempts = 0
            tidied |= {one.place for one in step}
            told = Compaction(
                len(step),
                sum((one.tally for one in step), Tally()),
                sum((Tally(1, entry.bytes) for files in made for entry in files.entries), Tally()),
                0,
                snapshot.id,
            )
            done += told
            on_step(told)
        return done

    def _untidy_files(self) -> list[UntidyFiles]:
        newest = self._snapshots.newest()
        shape = self._written_shape()
        return [] if newest is None else untidy_files(shape, live_files(self._manifests(), newest).values())

    def expire(self, now_ms: int, keep: Iterable[int] = ()) -> int:
        """Drop snapshots that are too old by `snapshot.*-retained`; how many."""
        return expire(self._written_shape(), now_ms, keep).snapshots

    def orphans(self, older_than_ms: int) -> list[str]:
        """Files of ours that no snapshot knows."""
        return [str(path) for path in orphans(self._directory, older_than_ms)]

    def remove(self, paths: Iterable[str]) -> None:
        """Delete orphans."""
        for path in paths:
            lake_path(path, self._storage).unlink(missing_ok=True)

    def _describe(self, snapshot: PaimonSnapshot) -> LakeSnapshot:
        counts_rows = self._shape is not None and not self._shape.keys  # by key, rows that were replaced count too
        return replace(describe_snapshot(snapshot), total_rows=snapshot.total_rows if counts_rows else None)

    @property
    def _name(self) -> str:
        return f"{self._directory.parent.name.removesuffix('.db')}.{self._directory.name}"

    def _round_at(self, newest: PaimonSnapshot | None) -> PaimonSnapshot | None:
        """The newest round among a snapshot and those before it; where they are forgotten, the tag tells."""
        oldest = None
        for snapshot in self._snapshots.back_from(newest):
            if is_round(snapshot):
                return snapshot
            oldest = snapshot
        if oldest is None or oldest.id == 1:
            return None
        tagged = self._snapshots.with_tag(ROUND_TAG)
        if tagged is None:
            raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(
                f"The lake's table {self._name} no longer has the snapshot of its last tiering round, so it cannot be "
                "known which rows it holds: it was expired by somebody. Drop the lake's table to have it written anew."
            )
        return tagged

    def _files_by_place(self, shape: TableShape) -> dict[LakePlace, list[FileEntry]]:
        newest = self._snapshots.newest()
        found: dict[LakePlace, list[FileEntry]] = {}
        if newest is None:
            return found
        for entry in live_files(self._manifests(), newest).values():
            found.setdefault(place_of(shape, entry.partition, entry.bucket), []).append(entry)
        return found

    def _manifests(self) -> Manifests:
        shape = self._written_shape()
        return Manifests(self._directory, shape.types_of(shape.partition_keys), shape.schema_id)

    def _written_shape(self) -> TableShape:
        assert self._shape is not None, "a table that is written comes from `ensure`"
        return self._shape
