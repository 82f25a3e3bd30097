"""NowTable: one table as it is now. A plan of its hot and cold halves → hot files → a snapshot that nobody commits.

One snapshot of the lake and one set of end offsets, as union reads promise: the planner is theirs. Nothing is done
while nobody asks, and nothing is written while nothing has come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from lakeward.client.forms.results import BucketId
from lakeward.lake.catalog_of import catalog_of
from lakeward.lake.iceberg.catalog import IcebergCatalog
from lakeward.lake.iceberg.now.hot_files import HotFiles
from lakeward.lake.iceberg.now.kept_keys import KeptKeys
from lakeward.lake.iceberg.now.now_area import NowArea
from lakeward.lake.iceberg.now.now_base import NowBase
from lakeward.lake.iceberg.now.now_snapshot import HotPart, NowSnapshot, write_now
from lakeward.lake.port import LakePlace
from lakeward.model.partition import values_of_name
from lakeward.model.table import TableInfo
from lakeward.options.spark import lake_options
from lakeward.query.lake.cold_part import open_reader
from lakeward.query.lake.lake_cache import lake_cache_of
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.plan import Plan
from lakeward.query.plan.planner import plan_once
from lakeward.query.plan.replan import replan
from lakeward.query.plan.splits import LakeSplit, LogSplit, StateSplit
from lakeward.query.request.request import ReadRequest
from lakeward.rest.now.bucket_tail import BucketTail, TailWriter, Wanted
from lakeward.rest.now.hot_rows import HotRows
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table

_BUCKETS_AT_ONCE = 8
_TOLD = "lakeward.now.offsets"


@dataclass(frozen=True, slots=True)
class NowSettings:
    """How fresh, and for how long."""

    #: A table is not looked at more often than this.
    refresh_s: float = 1.0
    #: Files stay that long after somebody was last told of them.
    keep_s: float = 900.0
    #: No file is handed out that is older: so everybody knows from its age alone when a file is nobody's.
    life_s: float = 3600.0
    #: What may be kept of the keys of primary key tables, in all.
    keys_bytes: int = 256 << 20


@dataclass(slots=True)
class Handed:
    """A snapshot that readers may have, until `until_s`."""

    snapshot: NowSnapshot
    area: NowArea
    paths: frozenset[str]
    made_s: float
    until_s: float


class NowTable:
    """One table; safe to be asked by several threads, of which one at a time looks."""

    def __init__(
        self,
        clock: Clock,
        entropy: Entropy,
        settings: NowSettings,
        writer: str,
        options: Mapping[str, str],
        kept: KeptKeys,
    ) -> None:
        self._clock = clock
        self._entropy = entropy
        self._settings = settings
        self._writer = writer
        self._options = dict(options)
        self._kept = kept
        self._looking = Lock()
        self._looked_s = float("-inf")
        self._cleared_s = float("-inf")
        self._known: object = None
        self._tails: dict[BucketId, BucketTail] = {}
        self._shape: tuple[Any, ...] = ()
        self._current: Handed | None = None
        self._handed: list[Handed] = []

    def load(self, conn: Connection, table: Table) -> NowSnapshot:
        """The table as it is now, or was a second ago at most."""
        asked_s = self._clock.monotonic()
        with self._looking:
            if self._current is None or asked_s - self._looked_s >= self._settings.refresh_s:
                began_s = self._clock.monotonic()  # what comes while it is looked at may be missing
                self._current = replan(conn, lambda: self._refresh(conn, table))
                self._looked_s = began_s
            self._current.until_s = self._clock.monotonic() + self._settings.keep_s
            return self._current.snapshot

    # -- what nobody can read any more --------------------------------------------------------------------------------

    def sweep(self) -> bool:
        """Remove files of snapshots that nobody can have any more; whether anything is left."""
        with self._looking:
            now_s = self._clock.monotonic()
            gone = [handed for handed in self._handed if handed.until_s <= now_s]
            if not gone:
                return bool(self._handed)
            self._handed = [handed for handed in self._handed if handed.until_s > now_s]
            if self._current in gone:
                self._forget()
            kept = {path for handed in self._handed for path in handed.paths}
            for handed in gone:
                handed.area.remove(handed.paths - kept)
                self._kept.drop(handed.paths - kept)
            return bool(self._handed)

    def _forget(self) -> None:
        self._current, self._known, self._tails = None, None, {}

    # -- looking ------------------------------------------------------------------------------------------------------

    def _refresh(self, conn: Connection, table: Table) -> Handed:
        ends = table.offsets("latest") if table.info.descriptor.has_primary_key else {}
        request = ReadRequest(table.path, options=self._options, parallelism=1)
        lake_cache_of(conn.inner).forget_readers()  # its files may be gone for who reads them
        plan = plan_once(conn, request)
        info = table.info
        wanted = _stretches(info, plan, ends)
        snapshot_id = None if plan.summary.lake is None else plan.summary.lake.snapshot_id
        known = (info.table_id, info.schema_id, snapshot_id, wanted)
        if self._current is not None and known == self._known and self._is_young(self._current):
            return self._current
        try:
            base = self._base(info, snapshot_id)
            self._clear(base.area)
            made = self._write(table, request, base, wanted)
        except FileNotFoundError as gone:
            raise OvertakenError(f"A file of {info.path} was removed while it was looked at ({gone}).") from gone
        self._known = known
        self._handed.append(made)
        return made

    def _clear(self, area: NowArea) -> None:
        """Remove, now and then, what servers have left that are no more: their files are too old to be anybody's."""
        now_s = self._clock.monotonic()
        if now_s - self._cleared_s >= self._settings.keep_s:
            self._cleared_s = now_s
            clear_area(area, self._clock.now_ms(), self._settings)

    def _is_young(self, handed: Handed) -> bool:
        return self._clock.monotonic() - handed.made_s < self._settings.life_s

    def _base(self, info: TableInfo, snapshot_id: int | None) -> NowBase:
        catalog = catalog_of(info, lake_options(self._options))
        assert isinstance(catalog, IcebergCatalog), "other formats are refused before"
        base = NowBase.of(catalog, info, snapshot_id, self._writer)
        if base is None:
            raise OvertakenError(f"Snapshot {snapshot_id} of {info.path} has expired while it was looked at.")
        return base

    def _write(self, table: Table, request: ReadRequest, base: NowBase, wanted: Mapping[BucketId, Wanted]) -> Handed:
        now_ms = self._clock.now_ms()
        files = HotFiles(base, self._entropy, self._kept)
        oldest_ms = now_ms - int(self._settings.life_s * 1000)
        rows = HotRows(table, request, now_ms)
        writer = TailWriter(rows, files, table.info.schema.primary_key, now_ms, oldest_ms)
        known = self._tails if base.shape == self._shape else {}
        hot = {id_: w for id_, w in wanted.items() if w.is_state or w.stop > w.start}
        try:
            tails = _each(lambda w: writer.follow(known.get(w.id), w), hot.values())
            hidden = self._files_to_hide(table.info, base, hot)
            made = write_now(base, _hot_part(tails, hidden), self._entropy)
        except BaseException as wrong:
            files.remove(writer.written)
            if isinstance(wrong, OvertakenError | FileNotFoundError):
                self._tails = {}  # perhaps a file of theirs is gone
            raise
        self._tails = {tail.wanted.id: tail for tail in tails}
        self._shape = base.shape
        now_s = self._clock.monotonic()
        pieces = (file.path for tail in tails for piece in tail.pieces for file in piece.files)
        return Handed(made, base.area, frozenset([*made.paths, *pieces]), now_s, now_s + self._settings.keep_s)

    def _files_to_hide(self, info: TableInfo, base: NowBase, hot: Mapping[BucketId, Wanted]) -> frozenset[str]:
        """Committed files of buckets whose whole state is hot."""
        places = {w.place for w in hot.values() if w.is_state}
        reader = None if base.snapshot is None or not places else open_reader(info, self._options)
        if reader is None or base.snapshot is None:
            return frozenset()
        return frozenset(p.file.path for p in reader.files(base.snapshot.snapshot_id) if p.place in places)


def clear_area(area: NowArea, now_ms: int, settings: NowSettings) -> None:
    """Remove files of any writer that nobody can have any more, by their age alone."""
    oldest_ms = now_ms - int((settings.life_s + settings.keep_s) * 1000)
    area.remove(area.older_than(oldest_ms))


def _stretches(info: TableInfo, plan: Plan, ends: Mapping[BucketId, int]) -> dict[BucketId, Wanted]:
    """What a plan wants of each bucket; stretches of one bucket are one again."""
    found: dict[BucketId, Wanted] = {}
    for split in plan.splits:
        match split:
            case LogSplit():
                old = found.get(split.id)
                start = split.start if old is None else min(old.start, split.start)
                stop = split.stop if old is None else max(old.stop, split.stop)
                found[split.id] = Wanted(split.id, _place(info, split.id), start, stop)
            case StateSplit():
                stop = ends.get(split.id, 0) if split.as_of is None else split.as_of
                found[split.id] = Wanted(split.id, _place(info, split.id), 0, stop, is_state=True)
            case LakeSplit() if info.descriptor.has_primary_key:
                found[split.id] = Wanted(split.id, _place(info, split.id), split.log_start, split.log_stop, split.files)
            case _:
                pass  # files of a log table, as they are
    return found


def _place(info: TableInfo, id_: BucketId) -> LakePlace:
    keys = info.descriptor.partition_keys
    return LakePlace(id_.bucket, () if id_.partition is None else values_of_name(keys, id_.partition))


def _hot_part(tails: Sequence[BucketTail], hidden: frozenset[str]) -> HotPart:
    pieces = [piece for tail in tails for piece in tail.pieces]
    told = {str(tail.wanted.id): tail.wanted.stop for tail in tails}
    return HotPart(
        [file for piece in pieces for file in piece.data],
        [file for piece in pieces for file in piece.deletes],
        hidden,
        told={_TOLD: ",".join(f"{id_}:{stop}" for id_, stop in sorted(told.items())[:64])},
    )


def _each(work: Callable[[Wanted], BucketTail], wanted: Iterable[Wanted]) -> list[BucketTail]:
    todo = list(wanted)
    if len(todo) <= 1:
        return [work(one) for one in todo]
    with ThreadPoolExecutor(min(len(todo), _BUCKETS_AT_ONCE)) as threads:
        return list(threads.map(work, todo))
