"""A log table: its log read from end to end, and the lake's rows against the log's, offset by offset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from lakeward.agreement.lake_side import LakeSide, UnreadableFileError
from lakeward.agreement.offset_sums import OffsetSums
from lakeward.agreement.report import SHOWN_MAX, Difference, Progress, TableReport
from lakeward.agreement.row_hashes import I64, U64, hash_rows
from lakeward.client.blocking.sync_table import Table
from lakeward.client.forms.damage import LeftOut
from lakeward.client.forms.results import BucketId
from lakeward.lake.rows.system_columns import BUCKET, OFFSET

LOG_REMEDY = (
    "On the server's machine `lakeward verify --data-dir DIR` names the file; bring it back from a copy, or see "
    "`lakeward repair`"
)
LAKE_REMEDY = (
    "Bring the file back from a copy or go back to an earlier snapshot of the lake; while the log still has the rows, "
    "dropping the lake's table has it tiered anew"
)
_READ_DIFFERENCES_MAX = 1 << 20


def scan_bucket(
    table: Table, id_: BucketId, start: int, stop: int, left_out: list[LeftOut]
) -> Iterator[pa.RecordBatch]:
    """A bucket's log; what cannot be read is noted instead of raised."""
    scan = table.scan(
        start={id_: start},
        end={id_: stop},
        partitions=None if id_.partition is None else [id_.partition],
        buckets=[id_.bucket],
        metadata_columns=True,
        skip_damaged=True,
    )
    yield from scan
    left_out.extend(scan.left_out)


def report_left_out(report: TableReport, left_out: Sequence[LeftOut]) -> None:
    """Damage is a difference; what somebody gave up on purpose is worth a word."""
    for one in left_out:
        if one.missing:
            report.notes.append(f"{report.path}, {one}")
            continue
        what = f"offsets {one.start} to {one.stop - 1} of the log cannot be read: {one.reason.rstrip('.')}"
        report.differences.append(Difference(str(report.path), one.bucket, "log", what, LOG_REMEDY, offset=one.start))


def outside(offsets: I64, ranges: Sequence[LeftOut], letters: I64 | None) -> np.ndarray:
    """Which offsets lie in no range that cannot be read, and are no letters."""
    kept = np.ones(len(offsets), np.bool_)
    for one in ranges:
        kept &= (offsets < one.start) | (offsets >= one.stop)
    if letters is not None:
        kept &= ~np.isin(offsets, letters)
    return kept


class LogCheck:
    """One comparison of a log table."""

    def __init__(
        self,
        table: Table,
        side: LakeSide | None,
        letters: Mapping[BucketId, I64],
        report: TableReport,
        progress: Progress,
    ) -> None:
        self._table = table
        self._side = side
        self._letters = letters
        self._report = report
        self._progress = progress
        self._names = list(table.info.schema.names)
        self._left_out: dict[BucketId, list[LeftOut]] = {}

    def run(self) -> None:
        """Read the log, then the lake, and name what differs."""
        starts, ends = self._table.offsets("earliest"), self._table.offsets("latest")
        self._report.buckets = len(ends)
        logged = {id_: self._read_log(id_, starts.get(id_, 0), end, len(ends)) for id_, end in ends.items()}
        if self._side is None:
            return
        found = {id_: OffsetSums(sums.start, sums.stop, len(ends)) for id_, sums in logged.items()}
        gone, unreadable = self._read_lake(self._side, found)
        if gone:
            self._report.notes.append(f"{self._report.path}: {gone:,} rows of the lake are of partitions that are gone")
        same = 0
        for id_, sums in logged.items():
            if id_ in unreadable:
                continue
            self._judge(self._side, id_, sums, found[id_])
            same += found[id_].rows if sums.first_difference(found[id_]) is None else 0
        self._report.lake_rows = same
        older = sum(sums.older for sums in found.values())
        if older:
            self._report.notes.append(
                f"{self._report.path}: {older:,} rows of the lake are older than the log; they were only read"
            )

    def _read_log(self, id_: BucketId, start: int, end: int, buckets: int) -> OffsetSums:
        in_lake = start if self._side is None else self._side.offsets.get(id_, start)
        if in_lake > end:
            what = f"the lake has rows up to offset {in_lake - 1}, and the log ends at {end}: rows of the log are lost"
            self._report.differences.append(
                Difference(str(self._report.path), id_, "log", what, LOG_REMEDY, offset=end)
            )
        sums = OffsetSums(start, min(in_lake, end), buckets)
        left_out: list[LeftOut] = []
        for batch in scan_bucket(self._table, id_, start, end, left_out):
            offsets = batch["_offset"].to_numpy()
            if offsets[0] < sums.stop:
                kept = outside(offsets, (), self._letters.get(id_))
                below = kept & (offsets < sums.stop)
                sums.add(offsets[below], hash_rows(batch, self._names)[below])
            self._report.log_rows += batch.num_rows
            self._progress("log", batch.num_rows)
        self._left_out[id_] = left_out
        report_left_out(self._report, left_out)
        return sums

    def _read_lake(self, side: LakeSide, found: Mapping[BucketId, OffsetSums]) -> tuple[int, set[BucketId]]:
        """Add the lake's rows up; how many are of no bucket that there is, and which places could not be read."""
        gone, unreadable = 0, set[BucketId]()
        for place in side.places:
            try:
                for _, batch in side.bucket_rows(place):
                    gone += self._add(place, batch, found)
            except UnreadableFileError as wrong:
                what = f"a file of snapshot {side.snapshot_id} of the lake cannot be read: {wrong}"
                self._report.differences.append(
                    Difference(str(self._report.path), place, "lake", what, LAKE_REMEDY, file=wrong.file)
                )
                unreadable.add(place)
        return gone, unreadable

    def _add(self, place: BucketId, batch: pa.RecordBatch, found: Mapping[BucketId, OffsetSums]) -> int:
        buckets, offsets = batch[BUCKET].to_numpy(), batch[OFFSET].to_numpy()
        hashes, gone = hash_rows(batch, self._names), 0
        for bucket in np.unique(buckets).tolist():
            id_, own = BucketId(place.partition, bucket), buckets == bucket
            if id_ not in found:
                gone += int(own.sum())
                continue
            own &= outside(offsets, self._left_out.get(id_, ()), None)
            found[id_].add(offsets[own], hashes[own])
        self._progress("lake", batch.num_rows)
        return gone

    def _judge(self, side: LakeSide, id_: BucketId, logged: OffsetSums, found: OffsetSums) -> None:
        path = str(self._report.path)
        if found.newer:
            what = (
                f"the lake holds {found.newer:,} rows at or behind offset {logged.stop}, which its snapshot "
                f"{side.snapshot_id} does not count: they would be there twice after the next round"
            )
            self._report.differences.append(Difference(path, id_, "lake", what, LAKE_REMEDY, offset=logged.stop))
        stretch = logged.first_difference(found)
        if stretch is None:
            return
        told = self._explain(side, id_, *stretch)
        self._report.differences += told[:SHOWN_MAX]
        more = logged.difference_count(found) - 1
        if more or len(told) > SHOWN_MAX:
            self._report.notes.append(
                f"{path}, bucket {id_}: {logged.rows:,} rows of the log are {found.rows:,} in the lake; more differ "
                "than are named"
            )

    def _explain(self, side: LakeSide, id_: BucketId, first: int, stop: int) -> list[Difference]:
        """The rows that differ in a stretch, each with its offset and file."""
        stop = min(stop, first + _READ_DIFFERENCES_MAX)
        logged: dict[int, int] = {}
        for batch in scan_bucket(self._table, id_, first, stop, []):
            offsets = batch["_offset"].to_numpy()
            kept = outside(offsets, (), self._letters.get(id_))
            logged |= _by_offset(offsets[kept], hash_rows(batch, self._names)[kept])
        held: dict[int, list[tuple[int, str | None]]] = {}
        covers: dict[str, tuple[int, int]] = {}
        for place in side.places:
            if place.partition != id_.partition:
                continue
            for file, batch in side.bucket_rows(place):
                offsets = batch[OFFSET].to_numpy()
                own = batch[BUCKET].to_numpy() == id_.bucket
                if file is not None and own.any():
                    low, high = covers.get(file, (2**63 - 1, -1))
                    covers[file] = min(low, int(offsets[own].min())), max(high, int(offsets[own].max()))
                own &= (offsets >= first) & (offsets < stop) & outside(offsets, self._left_out.get(id_, ()), None)
                hashes = hash_rows(batch, self._names)
                for offset, hashed in zip(offsets[own].tolist(), hashes[own].tolist(), strict=True):
                    held.setdefault(offset, []).append((hashed, file))
        made = []
        for offset in sorted(logged.keys() | held.keys()):
            what, file = _verdict(logged.get(offset), held.get(offset, []))
            if what is not None:
                file = file or next((f for f, (low, high) in covers.items() if low <= offset <= high), None)
                made.append(
                    Difference(str(self._report.path), id_, "lake", what, LAKE_REMEDY, offset=offset, file=file)
                )
        return made


def _by_offset(offsets: I64, hashes: U64) -> dict[int, int]:
    return dict(zip(offsets.tolist(), hashes.tolist(), strict=True))


def _verdict(logged: int | None, held: Sequence[tuple[int, str | None]]) -> tuple[str | None, str | None]:
    if not held:
        return "a row of the log is not in the lake", None
    if logged is None:
        return "a row of the lake is not in the log", held[0][1]
    if len(held) > 1:
        return f"a row of the log is {len(held)} times in the lake", held[1][1]
    if held[0][0] != logged:
        return "the row in the lake has other values than the one in the log", held[0][1]
    return None, None
