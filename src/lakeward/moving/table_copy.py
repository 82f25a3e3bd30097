"""TableCopy: one table in rounds. Each round copies what the source has and the target lacks, up to a known end."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing

from lakeward.client.forms.results import BucketId
from lakeward.client.raw.log_tail import LogTail
from lakeward.client.raw.raw_writer import RawWriter
from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import ErrorCode, LakewardError, NotFoundError
from lakeward.model.table import TablePath
from lakeward.moving.report import TableReport, Watch, Way, ignore
from lakeward.moving.state_sync import StateSync
from lakeward.moving.twin import COPY_OF, Twins, make_twin, mark_of
from lakeward.options.table import LOG_COMPACTION

#: Written behind the mark of a copy whose offsets are not the source's.
STATE: Way = "state"
#: Rounds in a row that may be cut short by what goes meanwhile.
_CUT_SHORT_MAX = 5


class TableCopy:
    """One table's way from a cluster to another. `positions` is how far the target has each bucket of the source."""

    def __init__(
        self,
        source: AsyncConnection,
        target: AsyncConnection,
        path: TablePath,
        given: Mapping[str, str],
        watch: Watch = ignore,
    ) -> None:
        self._source, self._target, self._path, self._given = source, target, path, given
        self._watch = watch
        self.report = TableReport(path)
        self.twins: Twins | None = None
        self.positions: dict[BucketId, int] = {}
        self._writer: RawWriter | None = None
        self._state: StateSync | None = None
        self._cut_short = 0

    async def close(self) -> None:
        """Give up what is under way."""
        if self._writer is not None:
            await self._writer.close()

    async def begin_again(self) -> None:
        """What was under way is given up; how far the target is will be asked anew."""
        await self.close()
        if self._state is None:
            self._writer = None

    async def round(self) -> int:
        """Copy what there is now; returns how many offsets it was behind when it began."""
        try:
            return await self._round()
        except NotFoundError as wrong:
            raise await self._explain_loss(wrong) from wrong

    async def _round(self) -> int:
        theirs = await self._target_ends()
        ends = await self._ends()
        self._check_ends(theirs, ends)
        if any(end < self.positions.get(id_, 0) for id_, end in theirs.items()):
            await self.begin_again()  # a server that died has lost what it had acknowledged
        twins = await self._meet()
        await self._make_partitions(twins)
        starts = await twins.source.offsets("earliest")
        ends = {id_: end for id_, end in ends.items() if id_ in starts}
        self.report.buckets = len(ends)
        if self._state is None:
            await self._begin(twins, starts, ends)
        before = self._behind(ends)
        try:
            await self._copy(twins, starts, ends)
        except LakewardError as wrong:
            # The source's retention was quicker, or its changelog has holes: the next round begins behind them. A
            # partition that is gone is not asked for again.
            self._cut_short += 1
            if self._cut_short > _CUT_SHORT_MAX:
                raise
            if wrong.code is ErrorCode.LOG_OFFSET_OUT_OF_RANGE and self._state is None:
                await self._fall_behind(twins, wrong)
            elif wrong.code is ErrorCode.PARTITION_NOT_EXISTS:
                await self.begin_again()
            else:
                raise
        else:
            self._cut_short = 0
        self.report.behind = self._behind(ends)
        return before

    async def look(self) -> None:
        """Find both tables, and how far the target has the source; nothing is changed."""
        self.twins = await make_twin(self._source, self._target, self._path, {}, self.report, create=False)
        ends = await self.twins.source.offsets("latest")
        by_key = self.twins.source.info.descriptor.has_primary_key
        self.report.way = "changelog" if by_key else "log"
        self.report.buckets = len(ends)
        if self._mark(self.twins) == STATE:
            self.report.way, self.report.same_offsets = STATE, False
            self.positions = ends
            return
        theirs = await self.twins.target.offsets("latest")
        self.positions = {id_: min(end, theirs[id_]) for id_, end in ends.items() if id_ in theirs}
        self.report.behind = self._behind(ends)

    async def count_behind(self) -> None:
        """Ask both sides how far the copy is, and report it; an error where the target has more than the source."""
        try:
            theirs = await self._target_ends()
            ends = await self._ends()
        except NotFoundError as wrong:
            raise await self._explain_loss(wrong) from wrong
        self._check_ends(theirs, ends)
        self._move_to({id_: end for id_, end in theirs.items() if id_ in ends}, {})
        self.report.behind = self._behind(ends)

    async def _target_ends(self) -> dict[BucketId, int]:
        """Where the target ends, if offsets there are the source's. To be asked before the source, which is ahead."""
        if self.twins is None or self._state is not None:
            return {}
        return await self.twins.target.offsets("latest")

    async def _explain_loss(self, wrong: NotFoundError) -> LakewardError:
        """The error for a table that was there when this began, or a partition of it: which side has dropped it."""
        if self.twins is None:
            return wrong
        if await _lacks(self._source, self._path):
            return ErrorCode.TABLE_NOT_EXIST.error(
                f"{self._path} was dropped in the source at {self._source.bootstrap}; what was copied of it stays in "
                "the target. Start the copy again for the other tables."
            )
        if await _lacks(self._target, self._path):
            return ErrorCode.TABLE_NOT_EXIST.error(
                f"{self._path} was dropped in the target at {self._target.bootstrap}. Start the copy again, and it is "
                "copied anew."
            )
        return wrong

    def _check_ends(self, theirs: Mapping[BucketId, int], ends: Mapping[BucketId, int]) -> None:
        for id_, end in ends.items():
            if theirs.get(id_, 0) > end:
                raise self._foreign(id_, f"it ends at offset {theirs[id_]:,}, the source at {end:,}")

    def _move_to(self, ends: Mapping[BucketId, int], starts: Mapping[BucketId, int]) -> None:
        """The target is that far: what came there since and was not acknowledged was copied all the same."""
        known = {id_: max(self.positions[id_], starts.get(id_, 0)) for id_ in ends if id_ in self.positions}
        self.report.rows += sum(max(ends[id_] - position, 0) for id_, position in known.items())
        self.positions |= ends

    def _behind(self, ends: Mapping[BucketId, int]) -> int:
        return sum(max(end - self.positions.get(id_, 0), 0) for id_, end in ends.items())

    async def _ends(self) -> dict[BucketId, int]:
        return await (await self._source.table(self._path)).offsets("latest")

    async def _meet(self) -> Twins:
        """Both tables as they are now; a source that has got columns gets them in the target too."""
        if self.twins is None:
            self.twins = await make_twin(self._source, self._target, self._path, self._given, self.report)
        else:
            now = await self._source.table(self._path)
            if now.info.table_id != self.twins.source.info.table_id:
                raise ErrorCode.TABLE_NOT_EXIST.error(
                    f"{self._path} was dropped in the source at {self._source.bootstrap} and created anew; drop the "
                    "copy and copy it again."
                )
            if now.info.schema_id == self.twins.source.info.schema_id:
                return self.twins
            await self.begin_again()
            self.twins = await make_twin(self._source, self._target, self._path, self._given, self.report)
            if self._state is not None:
                self._state.writer = self._translating(self.twins)
        return self.twins

    async def _make_partitions(self, twins: Twins) -> None:
        if not twins.source.info.descriptor.is_partitioned:
            return
        there = {p.name for p in await twins.target.partitions()}
        for partition in await twins.source.partitions():
            if partition.name not in there:
                await twins.target.create_partition(partition.spec, exist_ok=True)

    # -- batch by batch, or change by change --------------------------------------------------------------------------

    async def _begin(self, twins: Twins, starts: Mapping[BucketId, int], ends: Mapping[BucketId, int]) -> None:
        """Open what is new, and see whether the copy is one so far."""
        if self._writer is None:
            by_key = twins.source.info.descriptor.has_primary_key
            self._writer = self._translating(twins) if by_key else twins.target.raw_writer()
        tails = await self._writer.open(ends)
        self._move_to({id_: tail.end for id_, tail in tails.items()}, starts)
        by_key = twins.source.info.descriptor.has_primary_key
        self.report.way = "changelog" if by_key else "log"
        if by_key and (self._mark(twins) == STATE or self._needs_state(twins, starts)):
            await self._begin_state(twins)
            return
        await self._check_tails(twins, tails, starts, ends)

    def _needs_state(self, twins: Twins, starts: Mapping[BucketId, int]) -> bool:
        """Whether changes are missing that the target has not got."""
        compacted = LOG_COMPACTION.read(twins.source.info.descriptor.properties)
        return compacted or any(self.positions[id_] < start for id_, start in starts.items() if id_ in self.positions)

    async def _check_tails(
        self,
        twins: Twins,
        tails: Mapping[BucketId, LogTail],
        starts: Mapping[BucketId, int],
        ends: Mapping[BucketId, int],
    ) -> None:
        """Refuse a target whose rows are not the source's: what is copied would be mixed with them."""
        held = {id_: tail for id_, tail in tails.items() if tail.end > starts[id_]}
        self._check_ends({id_: tail.end for id_, tail in held.items()}, ends)
        theirs = await twins.source.batches_before({id_: tail.end for id_, tail in held.items()})
        for id_, tail in held.items():
            there, here = theirs[id_].last, tail.last
            if there is None or here is None:
                continue  # it has moved to a file store; what comes next is checked all the same
            if (there.base_offset, there.last_offset) != (here.base_offset, here.last_offset):
                raise self._foreign(id_, f"its last batch, at offset {here.base_offset:,}, is another one")

    def _foreign(self, id_: BucketId, what: str) -> LakewardError:
        return ErrorCode.INVALID_TABLE.error(
            f"{self._path} in the target at {self._target.bootstrap} holds rows that are not the source's: bucket "
            f"{id_}: {what}; somebody else writes to the target, or did. Stop that, and copy into an empty table: drop "
            "this one, or choose another target."
        )

    async def _copy(self, twins: Twins, starts: Mapping[BucketId, int], ends: Mapping[BucketId, int]) -> None:
        if self._state is not None:
            done = await self._state.follow(twins, self.positions, ends)
            self.report.rows += done
            return
        assert self._writer is not None
        writer = self._writer
        rows, size = writer.rows, writer.bytes
        ranges = {}
        for id_, end in ends.items():
            start = starts[id_]
            if self.positions[id_] < start:
                self.report.note(
                    f"bucket {id_}: the source's log begins at offset {start:,}, older rows are gone there; those "
                    "offsets are left empty in the target, so that the others are the same"
                )
                await writer.skip(id_, start, twins.source.info.schema_id)
            ranges[id_] = (max(self.positions[id_], start), end)
        told = writer.rows
        left = self._behind(ends)
        try:
            async with aclosing(twins.source.raw_scan({k: v for k, v in ranges.items() if v[0] < v[1]})) as chunks:
                async for chunk in chunks:
                    await writer.put(chunk)
                    left -= writer.rows - told
                    self._watch(self._path, "copied", writer.rows - told, max(left, 0))
                    told = writer.rows
            await writer.flush()
            self._watch(self._path, "copied", writer.rows - told, 0)
        finally:
            self.positions = {id_: writer.position(id_) for id_ in self.positions}
            self.report.rows += writer.rows - rows
            self.report.bytes += writer.bytes - size

    async def _fall_behind(self, twins: Twins, wrong: LakewardError) -> None:
        await self.begin_again()
        if twins.source.info.descriptor.has_primary_key:
            self.report.note(wrong.message)
            await self._begin_state(twins)

    # -- by state -----------------------------------------------------------------------------------------------------

    def _mark(self, twins: Twins) -> str | None:
        """What is written in the target of the way it was copied; None when it is not a copy of this source."""
        told = twins.target.info.descriptor.custom_properties.get(COPY_OF, "")
        of, _, way = told.partition(" ")
        return way if of == mark_of(twins.source) else None

    async def _begin_state(self, twins: Twins) -> None:
        """From now on the target gets the rows as they are, and then what changes; offsets are not the source's."""
        if self._mark(twins) is None and any((await twins.target.offsets("latest")).values()):
            raise ErrorCode.INVALID_TABLE.error(
                f"{self._path} in the target at {self._target.bootstrap} is not empty, and `lakeward copy` did not "
                "make it: its rows would be replaced. Drop it, or choose another target."
            )
        if self._mark(twins) != STATE:
            await self._target.alter_table(self._path, set={COPY_OF: f"{mark_of(twins.source)} {STATE}"})
        self.report.way, self.report.same_offsets = "state", False
        self.report.note(
            "the source's changelog does not reach back to its first change, so the rows are copied as they are, and "
            "then what changes: changes have other offsets in the target"
        )
        self._state = StateSync(self._translating(twins), self._watch)
        self.positions = {}

    def _translating(self, twins: Twins) -> RawWriter:
        writer = twins.target.raw_writer()
        writer.translate(twins.source.info, twins.schemas)
        return writer


async def _lacks(side: AsyncConnection, path: TablePath) -> bool:
    try:
        await side.table(path)
    except NotFoundError:
        return True
    return False
