"""Which sorted files of a place are merged in its next round, and the merge.

Every round adds a sorted file at level 0, and readers merge all of them on the fly. When a place has gathered too many,
the round that touches it next merges the small ones into the level above the last, or, when they have grown to a good
part of the last level, everything into that. A few places per round: a round then costs little more than without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.lake.files.s3_path import LakePath
from lakeward.lake.paimon.manifest.manifests import FileEntry
from lakeward.lake.paimon.read.key_order import last_of_each, sorted_by
from lakeward.lake.paimon.schema.shape import KEY_PREFIX, KIND, SEQUENCE, TableShape
from lakeward.lake.paimon.write.writing import Merging
from lakeward.lake.port import LakePlace
from lakeward.lake.rows.conformed_rows import conform_rows
from lakeward.lake.rows.parquet_rows import parquet_table

_RUNS_MAX = ("num-sorted-run.compaction-trigger", "5")
#: Everything is merged when what lies above the last level is more than one part in this many of it.
_FULL_SHARE = 3
#: Share of the touched places that one round merges; at least one.
_PLACES_SHARE = 4
_INSERTED, _UPDATED = 0, 2


def mergings(shape: TableShape, files: Mapping[LakePlace, Sequence[FileEntry]]) -> dict[LakePlace, Merging]:
    """What this round merges, of the places it touches; nothing where the table leaves it to others (`write-only`)."""
    if shape.options.get("write-only") == "true":
        return {}
    runs_max = int(shape.options.get(*_RUNS_MAX))
    debts = {place: _runs(found) + 1 - runs_max for place, found in files.items()}
    untidy = sorted((p for p, debt in debts.items() if debt > 0), key=lambda p: debts[p], reverse=True)
    chosen = untidy[: max(1, len(files) // _PLACES_SHARE)]
    return {place: _merging(shape, files[place]) for place in chosen}


def merged_rows(shape: TableShape, directory: LakePath, names: Sequence[str], *, is_bottom: bool) -> pa.Table:
    """The newest row of each key in these files, sorted by key; at the bottom deleted ones need not be kept."""
    schema = shape.file_schema()
    batches: list[pa.RecordBatch] = []
    for name in names:
        batches += [conform_rows(b, schema) for b in parquet_table(directory / name).to_batches()]
    keys = [KEY_PREFIX + name for name in shape.keys]
    rows = last_of_each(sorted_by(pa.Table.from_batches(batches, schema), keys, SEQUENCE), keys)
    if not is_bottom:
        return rows
    rows = rows.filter(pc.is_in(rows[KIND], pa.array([_INSERTED, _UPDATED], pa.int8())))
    inserted = pa.array(np.full(rows.num_rows, _INSERTED, np.int8))
    return rows.set_column(schema.get_field_index(KIND), schema.field(KIND), inserted)


def _runs(files: Sequence[FileEntry]) -> int:
    return sum(f.level == 0 for f in files) + len({f.level for f in files if f.level})


def last_level(shape: TableShape, files: Sequence[FileEntry]) -> int:
    """The level below which there is nothing."""
    runs_max = int(shape.options.get(*_RUNS_MAX))
    return max(int(shape.options.get("num-levels", runs_max + 1)) - 1, *(f.level for f in files))


def _merging(shape: TableShape, files: Sequence[FileEntry]) -> Merging:
    last = last_level(shape, files)
    above = [f for f in files if f.level < last]
    last_bytes = sum(f.bytes for f in files if f.level == last)
    if sum(f.bytes for f in above) * _FULL_SHARE >= last_bytes or last < 2:
        return Merging(tuple(files), last, is_bottom=True)
    return Merging(tuple(above), last - 1, is_bottom=False)
