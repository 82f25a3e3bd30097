"""A primary key table: what its changelog leaves of each key, against the state and against the lake.

The changelog is read once for both, or once for each part of a bucket with very many changes. What changes while the
state is read may be seen before or after; such keys are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.agreement.keyed_hashes import FoundRows, KeyDifferences, LastChanges, Part, compare, parts_of
from lakeward.agreement.lake_side import LakeSide, UnreadableFileError
from lakeward.agreement.log_check import LAKE_REMEDY, LOG_REMEDY, outside, report_left_out, scan_bucket
from lakeward.agreement.report import SHOWN_MAX, Difference, Progress, TableReport, Wanted
from lakeward.agreement.row_hashes import I64, U64, hash_rows
from lakeward.client.blocking.sync_table import Table
from lakeward.client.forms.damage import LeftOut
from lakeward.client.forms.results import BucketId
from lakeward.options.table import LOG_COMPACTION

_STATE_REMEDY = (
    "Upsert the row that is right; or, while the log begins at offset 0, stop the server, move the bucket's kv "
    "directory away and start it: the state is then made from the changelog"
)
_BEFORE = pa.array(["-U"])
_GONE = pa.array(["-D"])
_WHAT = {
    "lost": "the changelog leaves a row of this key, and there is none in the {holder}",
    "undead": "the changelog deletes the row of this key, and it is in the {holder}",
    "changed": "the row in the {holder} has other values than the changelog leaves",
    "unknown": "the {holder} has a row of this key, and no change in the log made it",
    "twice": "the {holder} has more than one row of this key",
}


class KeyCheck:
    """One comparison of a primary key table."""

    def __init__(
        self,
        table: Table,
        side: LakeSide | None,
        letters: Mapping[BucketId, I64],
        report: TableReport,
        wanted: Wanted,
        progress: Progress,
    ) -> None:
        self._table = table
        self._side = side
        self._letters = letters
        self._report = report
        self._wanted = wanted
        self._progress = progress
        self._names = list(table.info.schema.names)
        self._key = list(table.info.schema.primary_key)
        self._is_compacted = LOG_COMPACTION.read(table.info.descriptor.properties)

    def run(self) -> None:
        """Bucket by bucket."""
        starts, ends = self._table.offsets("earliest"), self._table.offsets("latest")
        self._report.buckets = len(ends)
        self._report.state_rows = 0 if self._wanted.state else None
        self._report.lake_rows = None if self._side is None else 0
        totals = KeyDifferences()
        for id_, end in ends.items():
            start = starts.get(id_, 0)
            for part in parts_of(end - start):
                self._check(id_, part, start, end, totals)
        for count, what in (
            (totals.older, "rows are older than the log and were not compared with it"),
            (totals.moving, "keys changed while they were read and were not compared"),
        ):
            if count:
                self._report.notes.append(f"{self._report.path}: {count:,} {what}")

    def _check(self, id_: BucketId, part: Part, start: int, end: int, totals: KeyDifferences) -> None:
        state = self._state(id_, part) if self._wanted.state else None
        read_to = self._table.offsets("latest").get(id_, end)
        in_lake = start if self._side is None else self._side.offsets.get(id_, start)
        if in_lake > read_to:
            what = f"the lake has changes up to offset {in_lake - 1}, and the changelog ends at {read_to}"
            self._report.differences.append(
                Difference(str(self._report.path), id_, "log", what, LOG_REMEDY, offset=read_to)
            )
        now, then, left_out = LastChanges(part), LastChanges(part), list[LeftOut]()
        letters = self._letters.get(id_)
        beside: list[U64] = []
        for batch in scan_bucket(self._table, id_, start, read_to, left_out):
            keys, rows, offsets, is_there = self._changes(batch)
            now.add(keys, rows, offsets, is_there)
            if len(offsets) and offsets[0] < in_lake:
                below = offsets < in_lake
                then.add(keys[below], rows[below], offsets[below], is_there[below])
                if letters is not None:
                    beside.append(keys[below & ~outside(offsets, (), letters)])
            self._report.log_rows += batch.num_rows if part.number == 0 else 0
            self._progress("changelog", batch.num_rows)
        if part.number == 0:
            report_left_out(self._report, left_out)
        is_complete = start == 0 and not self._is_compacted and not left_out
        if state is not None:
            found = compare(now, state, is_complete=is_complete, settled_to=end)
            self._report.state_rows = (self._report.state_rows or 0) + found.same
            self._tell(id_, "state", found, (start, read_to))
            totals.older += found.older
            totals.moving += found.moving
        if self._side is not None:
            self._check_lake(self._side, id_, part, then, beside, is_complete, (start, in_lake))

    def _check_lake(
        self,
        side: LakeSide,
        id_: BucketId,
        part: Part,
        changes: LastChanges,
        beside: Sequence[U64],
        is_complete: bool,
        span: tuple[int, int],
    ) -> None:
        held = FoundRows(part)
        apart = np.concatenate(beside) if beside else np.empty(0, np.uint64)
        try:
            for _, batch in side.bucket_rows(id_):
                keys = hash_rows(batch, self._key)
                held.add(keys, hash_rows(batch, self._names))
                self._progress("lake", batch.num_rows)
        except UnreadableFileError as wrong:
            what = f"a file of snapshot {side.snapshot_id} of the lake cannot be read: {wrong}"
            self._report.differences.append(
                Difference(str(self._report.path), id_, "lake", what, LAKE_REMEDY, file=wrong.file)
            )
            return
        found = compare(changes, held, is_complete=is_complete, settled_to=span[1])
        for known in (found.lost, found.undead, found.changed):
            for key in np.unique(apart).tolist():
                known.pop(key, None)  # of a letter's key the lake has not followed every change
        self._report.lake_rows = (self._report.lake_rows or 0) + found.same
        self._tell(id_, "lake", found, span)

    def _state(self, id_: BucketId, part: Part) -> FoundRows:
        found = FoundRows(part)
        batches = self._table.snapshot_batches(
            partitions=None if id_.partition is None else [id_.partition], buckets=[id_.bucket]
        )
        for batch in batches:
            found.add(hash_rows(batch, self._key), hash_rows(batch, self._names))
            self._progress("state", batch.num_rows)
        return found

    def _changes(self, batch: pa.RecordBatch) -> tuple[U64, U64, I64, np.ndarray]:
        """Changes but for the rows as they were before; of a deleted row only the key counts."""
        kinds = batch["_change_type"]
        batch = batch.filter(pc.invert(pc.is_in(kinds, _BEFORE)))
        is_there = pc.invert(pc.is_in(batch["_change_type"], _GONE)).to_numpy(zero_copy_only=False)
        offsets = batch["_offset"].to_numpy()
        return hash_rows(batch, self._key), hash_rows(batch, self._names), offsets, is_there

    # -- what differs, in words ---------------------------------------------------------------------------------------

    def _tell(self, id_: BucketId, holder: str, found: KeyDifferences, span: tuple[int, int]) -> None:
        told = list(found)
        if not told:
            return
        shown = told[:SHOWN_MAX]
        names, files = self._named_keys(id_, holder, [key for _, key, _ in shown], span)
        for kind, key, offset in shown:
            self._report.differences.append(
                Difference(
                    str(self._report.path),
                    id_,
                    holder,
                    _WHAT[kind].format(holder=holder),
                    LAKE_REMEDY if holder == "lake" else _STATE_REMEDY,
                    offset=offset,
                    key=names.get(key),
                    file=files.get(key) or self._any_file(id_, holder),
                )
            )
        if len(told) > len(shown):
            more = len(told) - len(shown)
            self._report.notes.append(f"{self._report.path}, bucket {id_}: {more:,} more keys differ in the {holder}")

    def _any_file(self, id_: BucketId, holder: str) -> str | None:
        """Where the file of a bucket lies, of a row that is in none."""
        files = () if holder != "lake" or self._side is None else self._side.places.get(id_, ())
        return None if not files else f"{files[0].path.rpartition('/')[0]}/"

    def _named_keys(
        self, id_: BucketId, holder: str, wanted: Sequence[int], span: tuple[int, int]
    ) -> tuple[dict[int, str], dict[int, str]]:
        """The keys as people write them, and the files of those that are in the lake."""
        names: dict[int, str] = {}
        files: dict[int, str] = {}
        if holder == "lake" and self._side is not None:
            for file, batch in self._side.bucket_rows(id_):
                for key in self._name(batch, wanted, names):
                    if file is not None:
                        files[key] = file
        else:
            part = None if id_.partition is None else [id_.partition]
            for batch in self._table.snapshot_batches(self._key, partitions=part, buckets=[id_.bucket]):
                self._name(batch, wanted, names)
        if len(names) < len(set(wanted)):
            for batch in scan_bucket(self._table, id_, *span, []):
                self._name(batch, wanted, names)
        return names, files

    def _name(self, batch: pa.RecordBatch, wanted: Iterable[int], names: dict[int, str]) -> list[int]:
        keys = hash_rows(batch, self._key)
        at = np.flatnonzero(np.isin(keys, np.array(list(wanted), np.uint64)))
        for place in at.tolist():
            row = [f"{name}={batch[name][place]}" for name in self._key]
            names[int(keys[place])] = ", ".join(row)
        return [int(key) for key in keys[at]]
