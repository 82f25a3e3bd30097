"""The copier: tables copied one after the other, followed together, compared, and left when the source is silent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from lakeward.client.forms.results import BucketId
from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import RetriableError
from lakeward.moving.comparison import compare_ends, compare_logs, compare_states
from lakeward.moving.lake_move import hand_over
from lakeward.moving.names import chosen_tables
from lakeward.moving.report import BucketSums, TableReport, Watch, ignore
from lakeward.moving.table_copy import TableCopy
from lakeward.moving.twin import COPY_OF
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.entropy import SystemEntropy

T = TypeVar("T")

#: A server that cannot be reached, or refuses, for this long ends the copy.
_GIVE_UP_S = 120
#: After so many failures a person is told what is waited for.
_TOLD_AFTER = 3
_log = logging.getLogger("lakeward.client")
#: For how long a copy that was stopped asks how far it came.
_LAST_LOOK_S = 5
#: Between two looks at a source from which nothing came.
_PAUSE_S = 0.2


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants."""

    tables: Sequence[str] = ()
    #: Properties of the tables in the target, over the source's.
    properties: Mapping[str, str] = field(default_factory=dict)
    copies: bool = True
    compares: bool = True
    #: Whether to go on with what comes: for ever, or until nothing has come for so many seconds.
    follows: bool = False
    silence_s: float | None = None


class Copier:
    """One run of `lakeward copy`."""

    def __init__(self, source: AsyncConnection, target: AsyncConnection, asked: Asked, watch: Watch = ignore) -> None:
        self._source, self._target, self._asked, self._watch = source, target, asked, watch
        self._copies: list[TableCopy] = []
        self._compared: dict[TableCopy, dict[BucketId, int]] = {}
        #: Whether everything that was there is copied, and what comes is followed.
        self.follows = False

    @property
    def reports(self) -> list[TableReport]:
        """What has been done so far."""
        return [copy.report for copy in self._copies]

    async def run(self) -> list[TableReport]:
        """All of it."""
        try:
            for path in await chosen_tables(self._source, self._asked.tables):
                copy = TableCopy(self._source, self._target, path, self._asked.properties, self._watch)
                self._copies.append(copy)
                if self._asked.copies:
                    await patiently(copy, partial(_catch_up, copy))
                else:
                    await patiently(copy, copy.look)
                if self._asked.compares:
                    await patiently(copy, partial(self._compare, copy, is_last=not self._asked.copies))
            if self._asked.follows and self._asked.copies:
                self.follows = True
                await self._follow()
                await self._cut_over()
        finally:
            await asyncio.gather(*(copy.close() for copy in self._copies))
        return self.reports

    async def last_look(self) -> None:
        """Ask both sides how far behind each table is, after following was stopped; who does not answer is noted."""
        for copy in self._copies:
            try:
                async with asyncio.timeout(_LAST_LOOK_S):
                    await copy.count_behind()
            except (RetriableError, TimeoutError) as wrong:
                copy.report.behind = None
                copy.report.note(f"how far behind it is could not be asked: {wrong or 'no answer'}")

    async def _follow(self) -> None:
        """Round after round, until the source has been silent for as long as was asked."""
        loop = asyncio.get_running_loop()
        moved_s = loop.time()
        while self._asked.silence_s is None or loop.time() - moved_s < self._asked.silence_s:
            came = 0
            for copy in self._copies:
                came += await patiently(copy, copy.round)
                self._watch(copy.report.path, "behind", 0, copy.report.behind)
            if came:
                moved_s = loop.time()
            else:
                await asyncio.sleep(_PAUSE_S)

    async def _cut_over(self) -> None:
        """The source is silent and everything is here: compare what came since, and let the copies stand alone."""
        for copy in self._copies:
            if self._asked.compares:
                await patiently(copy, partial(self._compare, copy, is_last=True))
            assert copy.twins is not None
            if copy.report.differs:
                continue
            await hand_over(self._source, self._target, copy.twins, copy.positions, copy.report)
            if COPY_OF in copy.twins.target.info.descriptor.custom_properties:
                await self._target.alter_table(copy.report.path, reset=[COPY_OF])

    async def _compare(self, copy: TableCopy, *, is_last: bool) -> None:
        """Compare what was not compared before. What is not copied yet is a difference when nothing more will be."""
        twins = copy.twins
        assert twins is not None
        done = self._compared.setdefault(copy, {})
        by_key = twins.source.info.descriptor.has_primary_key
        sums: list[BucketSums] = []
        starts = await twins.source.offsets("earliest")
        there = {id_: end for id_, end in copy.positions.items() if id_ in starts}
        if copy.report.same_offsets:
            theirs = await twins.target.offsets("earliest")
            ranges = {id_: (max(starts[id_], theirs.get(id_, 0), done.get(id_, 0)), end) for id_, end in there.items()}
            sums += await compare_logs(twins, {k: v for k, v in ranges.items() if v[0] < v[1]}, self._watch)
            copy.report.ends = [one for one in await compare_ends(twins) if is_last or one.is_foreign]
        if by_key:
            sums += await compare_states(twins, there, self._watch, same_offsets=copy.report.same_offsets)
        done.update(there)
        copy.report.sums = [*(copy.report.sums or ()), *sums]


async def _catch_up(copy: TableCopy) -> None:
    """Round after round until one has come to its end: retention or a dropped partition may cut one short."""
    await copy.round()
    while copy.report.behind:
        await copy.round()


async def patiently(copy: TableCopy, work: Callable[[], Awaitable[T]]) -> T:
    """Do something, again after a while where a server could not; what has failed for long is an error."""
    loop = asyncio.get_running_loop()
    backoff, failures, failing_s, rows = Backoff(0.1, 5.0, SystemEntropy()), 0, 0.0, copy.report.rows
    while True:
        try:
            return await work()
        except RetriableError as wrong:
            if not failures or copy.report.rows > rows:  # the time until then was not spent waiting
                failures, failing_s, rows = 0, loop.time(), copy.report.rows
            failures += 1
            if loop.time() - failing_s > _GIVE_UP_S:
                raise
            if failures == _TOLD_AFTER:
                _log.warning("%s: waiting: %s", copy.report.path, wrong.message)
            await copy.begin_again()
            await asyncio.sleep(backoff.pause_s(failures))
