"""The hot part of one bucket, in pieces: what was written before is used again, and only news is read.

Pieces grow by merging as in a log-structured tree: news takes in the pieces before it that are not much larger, so
that there are few of them, and each row is written a few times at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.client.forms.results import BucketId
from lakeward.lake.iceberg.now.hot_files import HotFile, HotFiles
from lakeward.lake.port import LakeFile, LakePlace
from lakeward.lake.rows.last_changes import last_changes
from lakeward.lake.rows.system_columns import CHANGE
from lakeward.rest.now.hot_rows import HotRows, rows_where
from lakeward.rest.now.piece import Piece

_DELETED = "-D"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a plan says of a bucket: its committed files, and the offsets that come on top of them."""

    id: BucketId
    place: LakePlace
    start: int
    stop: int
    files: tuple[LakeFile, ...] = ()
    #: The state as of `stop`, in place of all files.
    is_state: bool = False

    @property
    def base(self) -> tuple[object, ...]:
        """What pieces by key stand on: with another base, other rows are gone by them."""
        return (self.is_state, self.start, tuple((file.path, file.deletes) for file in self.files))


@dataclass(frozen=True, slots=True)
class BucketTail:
    """The pieces of a bucket, in the order of their offsets."""

    wanted: Wanted
    pieces: tuple[Piece, ...]


class TailWriter:
    """Brings tails of one table up to what a plan wants."""

    def __init__(self, rows: HotRows, files: HotFiles, keys: Sequence[str], now_ms: int, oldest_ms: int) -> None:
        """Pieces that were made before `oldest_ms` are written again."""
        self._rows = rows
        self._files = files
        self._keys = list(keys)
        self._now_ms = now_ms
        self._oldest_ms = oldest_ms
        #: What was written, for who has to clean up.
        self.written: list[HotFile] = []

    def follow(self, known: BucketTail | None, wanted: Wanted) -> BucketTail:
        """The tail as it is wanted; `known` is what there is."""
        pieces = [] if known is None else self._reusable(known, wanted)
        missing = _missing(pieces, wanted)
        made = [self._make(wanted, start, stop, pieces) for start, stop in missing]
        kept = [piece for piece in pieces if not any(m.start <= piece.start and piece.stop <= m.stop for m in made)]
        return BucketTail(wanted, tuple(sorted([*kept, *made], key=lambda piece: piece.start)))

    def _reusable(self, known: BucketTail, wanted: Wanted) -> list[Piece]:
        is_same = known.wanted.base == wanted.base if not wanted.is_state else known.wanted.is_state
        if (self._keys and not is_same) or any(p.made_ms < self._oldest_ms for p in known.pieces):
            return []
        if wanted.is_state:
            return [piece for piece in known.pieces if piece.stop <= wanted.stop]
        return [piece for piece in known.pieces if piece.start >= wanted.start and piece.stop <= wanted.stop]

    def _make(self, wanted: Wanted, start: int, stop: int, pieces: Sequence[Piece]) -> Piece:
        if not self._keys:
            data = self._remember(self._files.write_rows(wanted.place, self._rows.of_log(wanted.id, start, stop)))
            return Piece(start, stop, self._now_ms, tuple(data))
        before = [piece for piece in pieces if piece.stop <= start]
        if wanted.is_state and not before:
            return self._of_state(wanted, stop)
        return self._of_changes(wanted, start, stop, before)

    def _of_state(self, wanted: Wanted, stop: int) -> Piece:
        found = list(self._rows.of_state(wanted.id, stop))
        data = self._remember(self._files.write_rows(wanted.place, found))
        if found:
            self._files.keep_keys(data, pa.Table.from_batches(found).select(self._keys).combine_chunks())
        return Piece(0, stop, self._now_ms, tuple(data), is_state=True)

    def _of_changes(self, wanted: Wanted, start: int, stop: int, before: Sequence[Piece]) -> Piece:
        found = list(self._rows.of_log(wanted.id, start, stop))
        if not found:
            return Piece(start, stop, self._now_ms)
        last = last_changes(pa.Table.from_batches(found), self._keys)
        kept = rows_where(pc.not_equal(last[CHANGE], _DELETED), last).drop_columns([CHANGE])
        data = self._remember(self._files.write_rows(wanted.place, kept.to_batches())) if kept.num_rows else []
        self._files.keep_keys(data, kept.select(self._keys).combine_chunks())
        touched = last.select(self._keys).combine_chunks()
        gone = self._replaced_rows(wanted, touched, before)
        deletes = self._remember(self._files.write_deletes(wanted.place, found[0], gone))
        return Piece(start, stop, self._now_ms, tuple(data), tuple(deletes))

    def _replaced_rows(
        self, wanted: Wanted, touched: pa.Table, before: Sequence[Piece]
    ) -> dict[str, NDArray[np.int64]]:
        committed = () if wanted.is_state else wanted.files
        files = {file.path: [deletes.path for deletes in file.deletes] for file in committed}
        hot: dict[str, list[str]] = {file.path: [] for piece in before for file in piece.data}
        return self._files.positions(files | hot, touched)

    def _remember(self, files: Iterable[HotFile]) -> list[HotFile]:
        found = list(files)
        self.written += found
        return found


def _missing(pieces: Sequence[Piece], wanted: Wanted) -> list[tuple[int, int]]:
    """Stretches that no piece has; the last one takes in pieces before it that are not much larger than it."""
    found: list[tuple[int, int]] = []
    at = 0 if wanted.is_state else wanted.start
    for piece in pieces:
        if piece.start > at:
            found.append((at, piece.start))
        at = piece.stop
    if at < wanted.stop:
        start, weight = at, wanted.stop - at
        for piece in reversed(pieces):
            if piece.stop != start or piece.weight > 2 * weight:
                break
            start, weight = piece.start, weight + piece.weight
        found.append((start, wanted.stop))
    return found
