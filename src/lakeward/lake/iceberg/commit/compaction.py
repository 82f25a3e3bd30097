"""Small files and deletes of a place → fewer, larger files without deletes, in a snapshot that changes no row.

In the background (`compact`) a log table's small files become one when many have gathered: rounds only add files, so
either commits on top of the other. By hand (`compact_fully`) everything is rewritten that could be less, also of a
primary key table, whose rounds name rows of older files in files of deletes. Whoever was first wins: a round that names
rows of a file that is gone is refused and begins again, and so does a compaction whose files have got new deletes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyiceberg.conversions import from_bytes
from pyiceberg.exceptions import CommitFailedException, ValidationException
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Summary
from pyiceberg.typedef import EMPTY_DICT
from pyiceberg.types import LongType

from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.iceberg.commit.file_changes import FileChanges
from lakeward.lake.iceberg.commit.live_files import LiveFiles, live_files
from lakeward.lake.iceberg.read.reader import IcebergReader
from lakeward.lake.iceberg.read.table_document import TableDocument
from lakeward.lake.iceberg.schema.format_version import check_readable
from lakeward.lake.iceberg.schema.layout import spec_columns
from lakeward.lake.iceberg.schema.places import Places
from lakeward.lake.iceberg.schema.types import FileRows
from lakeward.lake.iceberg.write.data_writer import DataFileWriter, Writing, WrittenFiles, target_bytes
from lakeward.lake.port import Compaction, LakeFile, LakePlace, Tally
from lakeward.lake.rows.system_columns import OFFSET
from lakeward.model.table import TableInfo

#: So many small files may gather in a place before they become one in the background.
SMALL_FILES_MAX = 8
_SMALL_BYTES = 32 << 20
#: What one snapshot rewrites, about, so that it is soon over; the rest is for the next one.
_PASS_BYTES = 1 << 30
#: How often in a row a full compaction begins again when it was overtaken.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """How many files became how many."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class UntidyPlace:
    """A place, its partition's values, the data files to rewrite and all its files of deletes."""

    place: LakePlace
    values: tuple[Any, ...]
    data: list[DataFile]
    deletes: list[DataFile]

    @property
    def tally(self) -> Tally:
        """What goes."""
        files = [*self.data, *self.deletes]
        return Tally(len(files), sum(file.file_size_in_bytes for file in files))


class CompactionSnapshot(FileChanges):
    """Other files, the same rows."""

    def keeps_deletes(self, known: Mapping[tuple[Any, ...], frozenset[str]]) -> None:
        """The files of deletes that were applied: another one in these places would be lost."""
        self._known_deletes = known

    def _validate_concurrency(self) -> None:
        super()._validate_concurrency()
        if self._parent_snapshot_id == self._starting_snapshot_id:
            return
        parent = self._transaction.table_metadata.snapshot_by_id(self._parent_snapshot_id or -1)
        live = live_files(parent, self._io)
        for values, known in self._known_deletes.items():
            if _delete_paths(live.get(values, LiveFiles())) - known:
                raise ValidationException("rows were deleted in a place while it was rewritten")

    def _summary(self, snapshot_properties: dict[str, str] = EMPTY_DICT) -> Summary:
        summary = super()._summary(snapshot_properties)
        return Summary(Operation.REPLACE, **summary.additional_properties)


def compact(table: Table, info: TableInfo) -> CompactionResult:
    """Rewrite the places of a log table with too many small files; LakeConflictError if somebody was faster."""
    table.refresh()
    chosen = _first_step(_crowded_places(table, info))
    if not chosen:
        return CompactionResult(0, 0)
    made = _rewrite(table, info, chosen)
    return CompactionResult(made.before.files, made.after.files)


def untidy(table: Table, info: TableInfo) -> Compaction:
    """What a full compaction would rewrite."""
    table.refresh()
    found, left = _untidy_places(table, info)
    return Compaction(len(found), sum((one.tally for one in found), Tally()), _ones(found), _deletes(found), None, left)


def compact_fully(table: Table, info: TableInfo, on_step: Callable[[Compaction], None]) -> Compaction:
    """Rewrite all that is untidy, step by step, and begin a step again where somebody was faster."""
    done, attempts = Compaction(), 0
    tidied: set[LakePlace] = set()  # once each: rounds may go on making small files for ever
    while True:
        table.refresh()
        found, left = _untidy_places(table, info)
        step = _first_step(one for one in found if one.place not in tidied)
        if not step:
            return done + Compaction(left=left)
        try:
            made = _rewrite(table, info, step)
        except LakeConflictError:
            attempts += 1
            if attempts >= _ATTEMPTS:
                raise
            continue
        attempts = 0
        tidied |= {one.place for one in step}
        done += made
        on_step(made)


def _rewrite(table: Table, info: TableInfo, chosen: Sequence[UntidyPlace]) -> Compaction:
    planned_on = table.metadata.current_snapshot_id
    writing = Writing(table.metadata.model_dump_json(), dict(table.io.properties))
    check_readable(table.metadata.format_version, info.path)
    reader = IcebergReader(TableDocument.of_json(writing.metadata_json, info.path), table.io, info)
    by_path = {placed.file.path: placed.file for placed in reader.files(planned_on or -1)}
    schema = FileRows(table.schema()).schema
    written: list[DataFile] = []
    try:
        for one in chosen:
            files = [by_path[file.file_path] for file in one.data]
            written += _rewrite_files(reader, schema, writing, one.place, files, table.metadata.default_spec_id)
        with table.transaction() as change:
            snapshot = CompactionSnapshot(change, table.io, {})
            snapshot.keeps_deletes({one.values: frozenset(f.file_path for f in one.deletes) for one in chosen})
            for file in written:
                snapshot.append_data_file(file)
            snapshot.remove_files(file.file_path for one in chosen for file in (*one.data, *one.deletes))
            snapshot.expect_snapshot(planned_on)
            snapshot.commit()
    except (CommitFailedException, ValidationException) as wrong:
        for file in written:
            table.io.delete(file.file_path)
        raise LakeConflictError(f"The compaction of {info.path} was overtaken: {wrong}") from wrong
    before = sum((one.tally for one in chosen), Tally())
    after = Tally(len(written), sum(file.file_size_in_bytes for file in written))
    return Compaction(len(chosen), before, after, _deletes(chosen), snapshot.snapshot_id)


def _crowded_places(table: Table, info: TableInfo) -> Iterator[UntidyPlace]:
    """Places with many small files, in the order of the log; files with deletes on them are left alone."""
    for one, files, _ in _places(table, info):
        if files.position_deletes or files.equality_deletes:
            continue
        small = _small(table, one.data)
        if len(small) > SMALL_FILES_MAX:
            yield UntidyPlace(one.place, one.values, small, [])


def _untidy_places(table: Table, info: TableInfo) -> tuple[list[UntidyPlace], tuple[str, ...]]:
    """Places with deletes, or with more than one small file; and those that are left alone, with the reason."""
    found, left = [], []
    for one, _, other_specs in _places(table, info):
        small = _small(table, one.data)
        if other_specs:
            left.append(f"bucket {one.place.bucket}: it has files of an older partition spec")
        elif one.deletes:
            found.append(one)
        elif len(small) > 1:
            found.append(UntidyPlace(one.place, one.values, small, []))
    return found, tuple(left)


def _places(table: Table, info: TableInfo) -> Iterator[tuple[UntidyPlace, LiveFiles, bool]]:
    """All places with their files in the order of the log, and whether some have another spec than new files get."""
    spec, schema = table.spec(), table.schema()
    places = Places(spec_columns(spec, schema), info)
    offset_id = schema.find_field(OFFSET).field_id
    for values, files in live_files(table.current_snapshot(), table.io).items():
        deletes = [*files.position_deletes, *files.equality_deletes]
        own = [f for f in files.data if f.spec_id == spec.spec_id]
        others = len(own) < len(files.data) or any(f.spec_id != spec.spec_id for f in deletes)
        if not others:
            data = sorted(own, key=lambda f: _first_offset(f, offset_id))
            yield UntidyPlace(places.of(values), values, data, deletes), files, False
        elif files.data:
            yield UntidyPlace(LakePlace(files.data[0].partition[-1] or 0), values, [], []), files, True


def _small(table: Table, files: Sequence[DataFile]) -> list[DataFile]:
    """Files that could be larger, by what the table wants its files to be."""
    limit = min(_SMALL_BYTES, target_bytes(table.properties))
    return [file for file in files if file.file_size_in_bytes < limit]


def _first_step(places: Iterable[UntidyPlace]) -> list[UntidyPlace]:
    """As many places as fit into one snapshot's work; one that is larger alone comes alone."""
    chosen: list[UntidyPlace] = []
    left = _PASS_BYTES
    for one in places:
        size = one.tally.bytes
        if size <= left or not chosen:
            chosen.append(one)
            left -= size
    return chosen


def _ones(found: Sequence[UntidyPlace]) -> Tally:
    """At least how many files come in their place; how large they will be is known when they are written."""
    return Tally(sum(bool(one.data) for one in found), 0)


def _deletes(found: Sequence[UntidyPlace]) -> int:
    return sum(len(one.deletes) for one in found)


def _delete_paths(files: LiveFiles) -> set[str]:
    return {file.file_path for file in (*files.position_deletes, *files.equality_deletes)}


def _first_offset(file: DataFile, offset_id: int) -> int:
    bound: Any = (file.lower_bounds or {}).get(offset_id)
    return 0 if bound is None else int(from_bytes(LongType(), bound))


def _rewrite_files(
    reader: IcebergReader,
    schema: pa.Schema,
    writing: Writing,
    place: LakePlace,
    files: Sequence[LakeFile],
    spec_id: int,
) -> list[DataFile]:
    writer = DataFileWriter(writing, place)
    try:
        for file in files:
            for batch in reader.rows([file], schema):
                writer.write(batch)
        return WrittenFiles.of_bytes(writer.finish().record, spec_id).data
    except BaseException:
        writer.abort()
        raise
