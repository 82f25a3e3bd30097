"""IcebergReader: snapshots, their files place by place, and the rows of a file without those that were deleted.

It reads metadata itself and knows nothing of pyiceberg, which takes long to be imported and to read manifests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.iceberg.read.avro_file import AvroFile, UnknownAvroError
from lakeward.lake.iceberg.read.column_bounds import ColumnBounds
from lakeward.lake.iceberg.read.equality_deletes import EqualityDeletes, wider, without
from lakeward.lake.iceberg.read.lake_files import (
    CATALOG_FILE,
    Inputs,
    LocalInputs,
    is_local,
    metadata_location,
    warehouse_directory,
)
from lakeward.lake.iceberg.read.manifest_cache import ManifestCache
from lakeward.lake.iceberg.read.manifest_entries import DATA, POSITION_DELETES, ManifestEntry, read_entries
from lakeward.lake.iceberg.read.row_positions import DeletedPositions
from lakeward.lake.iceberg.read.snapshot_forms import describe_snapshot
from lakeward.lake.iceberg.read.table_document import ROUND_TAG, DocumentSnapshot, TableDocument
from lakeward.lake.iceberg.schema.places import Places, SpecColumn
from lakeward.lake.port import Bounds, LakeDeletes, LakeEqualityDeletes, LakeFile, LakePlace, LakeSnapshot, PlacedFile
from lakeward.lake.rows.parquet_rows import parquet_rows
from lakeward.model.table import TableInfo

_FILE_PATH_ID = 2147483546
#: One for the process: tables are opened again for every plan.
_MANIFESTS = ManifestCache()
#: Of all files whose bounds nobody asked for.
_NO_BOUNDS: Mapping[str, Bounds] = {}


@dataclass(slots=True)
class _Files:
    """The live files of one partition. Few have deletes, and there may be many: no list is made for none."""

    data: list[ManifestEntry] = field(default_factory=list)
    position_deletes: tuple[ManifestEntry, ...] = ()
    equality_deletes: tuple[ManifestEntry, ...] = ()


class IcebergReader:
    """One state of the table's metadata; what is committed later is not seen."""

    #: A row that is replaced is deleted by its position: every file stands for itself.
    merges = False

    def __init__(self, document: TableDocument, inputs: Inputs, info: TableInfo) -> None:
        self._document = document
        self._inputs = inputs
        self._info = info
        self._deleted = DeletedPositions(inputs)
        self._equal = EqualityDeletes(inputs)

    def snapshots(self) -> list[LakeSnapshot]:
        """Snapshots that say how far each bucket is, newest first."""
        found: list[LakeSnapshot] = []
        above: list[DocumentSnapshot] = []
        for snapshot in self._document.history():
            above.append(snapshot)
            if snapshot.is_round:
                found += _on_round(above, snapshot)
                above = []
        tagged = self._document.snapshots.get(self._document.tags.get(ROUND_TAG, -1))
        # What lies between was expired by somebody; expiry may remove the link to the parent as well.
        if above and not found and above[-1].sequence_number > 1 and tagged is not None:
            found += _on_round(above, tagged)
        return found

    def history(self) -> list[LakeSnapshot]:
        """Every snapshot that is still there, newest first, whoever made it."""
        return [
            LakeSnapshot(s.snapshot_id, s.timestamp_ms, None, None, None, s.properties)
            for s in self._document.history()
        ]

    def tags(self) -> dict[str, LakeSnapshot]:
        """Tags of the table but for our own, which moves."""
        document = self._document
        tagged = {name: document.snapshots.get(id_) for name, id_ in document.tags.items() if name != ROUND_TAG}
        return {name: self._of_tag(snapshot) for name, snapshot in tagged.items() if snapshot is not None}

    def _of_tag(self, snapshot: DocumentSnapshot) -> LakeSnapshot:
        """As far as the round below it; where that has expired, it is not known how far the buckets were."""
        round_ = next((s for s in self._document.history(snapshot.snapshot_id) if s.is_round), None)
        if round_ is not None:
            return _on_round([snapshot], round_)[0]
        return LakeSnapshot(snapshot.snapshot_id, snapshot.timestamp_ms, {}, None, None, snapshot.properties)

    def files(self, snapshot_id: int, bounds_of: Iterable[str] = ()) -> list[PlacedFile]:
        """The live files of a snapshot, with the deletes that may be about them."""
        bounds = ColumnBounds(self._document.columns, bounds_of)
        places = {
            id_: Places([SpecColumn(f.column, f.transform == "identity") for f in fields], self._info)
            for id_, fields in self._document.specs.items()
        }
        found: list[PlacedFile] = []
        for (spec_id, values), files in self._live(self._document.snapshots.get(snapshot_id)).items():
            found += _place_files(places[spec_id].of(values), files, bounds, self._document.names)
        return found

    def _live(self, snapshot: DocumentSnapshot | None) -> Mapping[tuple[int, tuple[Any, ...]], _Files]:
        """Live files by their partition: the id of its spec, and its values."""
        found: dict[tuple[int, tuple[Any, ...]], _Files] = {}
        if snapshot is None or snapshot.manifest_list is None:
            return found
        for manifest in self._manifests(snapshot.manifest_list):
            spec_id: int = manifest["partition_spec_id"]
            for entry in self._entries(manifest):
                partition = spec_id, entry.partition
                files = found.get(partition)
                if files is None:
                    files = found[partition] = _Files()
                if entry.content == DATA:
                    files.data.append(entry)
                elif entry.content == POSITION_DELETES:
                    files.position_deletes += (entry,)
                else:
                    files.equality_deletes += (entry,)
        return found

    def _manifests(self, path: str) -> list[dict[str, Any]]:
        try:
            return list(AvroFile(self._read(path)).records())
        except UnknownAvroError as wrong:
            raise self._unknown(path, wrong) from wrong

    def _entries(self, manifest: Mapping[str, Any]) -> tuple[ManifestEntry, ...]:
        path: str = manifest["manifest_path"]
        try:
            return _MANIFESTS.files(path, lambda: read_entries(self._read(path), manifest.get("sequence_number") or 0))
        except UnknownAvroError as wrong:
            raise self._unknown(path, wrong) from wrong

    def _unknown(self, path: str, wrong: UnknownAvroError) -> LakewardError:
        return ErrorCode.INVALID_TABLE.error(f"{self._info.path}: the manifest {path} cannot be read here: {wrong}.")

    def _read(self, path: str) -> bytes:
        with self._inputs.new_input(path).open() as stream:
            data: bytes = stream.read()
            return data

    def rows(self, files: Sequence[LakeFile], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The live rows of files."""
        for file in files:
            gone = self._deleted.of(file.path, [d.path for d in file.deletes])
            values = self._equal.of(file.equality_deletes)
            with self._inputs.new_input(file.path).open() as stream:
                if not values:
                    yield from parquet_rows(stream, schema, gone)
                    continue
                for batch in parquet_rows(stream, wider(schema, values), gone):
                    yield without(batch, values).select(schema.names)


def local_reader(properties: Mapping[str, str], info: TableInfo) -> tuple[IcebergReader | None] | None:
    """The reader of a table in a local warehouse whose catalog is its own file, found without pyiceberg.

    None inside where the catalog does not have the table; None alone where the table has to be found in another way.
    """
    directory = warehouse_directory(properties)
    if directory is None:
        return None
    if not (directory / CATALOG_FILE).exists():
        return (None,)  # a catalog is made by who writes, not by who looks
    location = metadata_location(directory, properties, info.path)
    if location is None:
        return (None,)
    if not is_local(location):
        return None
    inputs = LocalInputs()
    with inputs.new_input(location).open() as stream:
        return (IcebergReader(TableDocument.of_json(stream.read(), info.path), inputs, info),)


def _place_files(
    place: LakePlace, files: _Files, bounds: ColumnBounds, names: Mapping[int, str]
) -> Iterator[PlacedFile]:
    if not files.position_deletes and not files.equality_deletes:
        for entry in files.data:
            file = LakeFile(entry.path, entry.rows, entry.bytes)
            yield PlacedFile(place, file, bounds.of(entry.statistics) if bounds else _NO_BOUNDS)
        return
    equal = [(d.sequence_number, _values(d, names)) for d in files.equality_deletes]
    about = [(d, *_paths(d)) for d in files.position_deletes]
    for entry in files.data:
        path = entry.path.encode() if about else b""
        # Bounds of other writers may be cut off: compare as far as they go.
        deletes = tuple(
            LakeDeletes(d.path, d.rows)
            for d, low, high in about
            if (low is None or path[: len(low)] >= low) and (high is None or path[: len(high)] <= high)
        )
        older = tuple(told for number, told in equal if entry.sequence_number < number)
        file = LakeFile(entry.path, entry.rows, entry.bytes, deletes, older)
        yield PlacedFile(place, file, bounds.of(entry.statistics) if bounds else _NO_BOUNDS)


def _values(deletes: ManifestEntry, names: Mapping[int, str]) -> LakeEqualityDeletes:
    columns = tuple(names[id_] for id_ in deletes.statistics["equality_ids"])
    return LakeEqualityDeletes(deletes.path, deletes.rows, columns)


def _paths(deletes: ManifestEntry) -> tuple[bytes | None, bytes | None]:
    """From which data file to which deletes can name rows."""
    told = deletes.statistics
    low, high = ((told.get(name) or {}).get(_FILE_PATH_ID) for name in ("lower_bounds", "upper_bounds"))
    return low, high


def _on_round(above: list[DocumentSnapshot], round_: DocumentSnapshot) -> list[LakeSnapshot]:
    told = describe_snapshot(round_.snapshot_id, round_.timestamp_ms, round_.properties)
    return [
        replace(told, snapshot_id=s.snapshot_id, committed_ms=s.timestamp_ms, round_id=round_.snapshot_id)
        for s in above
    ]
