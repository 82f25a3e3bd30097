"""Who wants to know what the service does: the log, the terminal, the status table, the housekeeper."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from lakeward.client.admin.lake import TieringRound
from lakeward.errors import LakewardError
from lakeward.tiering.round.round import RoundReport

logger = logging.getLogger("lakeward.tiering")


class Watcher(Protocol):
    """Is told what happens, from the service's own thread."""

    def on_begin(self, held: TieringRound) -> None:
        """A round has begun."""
        ...

    def on_end(self, held: TieringRound, report: RoundReport) -> None:
        """A round is over and in the lake."""
        ...

    def on_overtake(self, held: TieringRound, why: LakewardError) -> None:
        """Another service was first."""
        ...

    def on_failure(self, held: TieringRound, why: LakewardError, pause_s: float) -> None:
        """A round failed, and is tried again after a pause."""
        ...

    def on_fence(self, table_id: int, why: LakewardError) -> None:
        """The coordinator no longer knows a round of ours."""
        ...

    def on_silence(self, why: LakewardError) -> None:
        """The coordinator does not answer."""
        ...

    def close(self) -> None:
        """The service has ended; nothing more is reported."""
        ...


class Watchers:
    """Several watchers as one."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._all = tuple(watchers)

    def on_begin(self, held: TieringRound) -> None:
        """Tell all."""
        for one in self._all:
            one.on_begin(held)

    def on_end(self, held: TieringRound, report: RoundReport) -> None:
        """Tell all."""
        for one in self._all:
            one.on_end(held, report)

    def on_overtake(self, held: TieringRound, why: LakewardError) -> None:
        """Tell all."""
        for one in self._all:
            one.on_overtake(held, why)

    def on_failure(self, held: TieringRound, why: LakewardError, pause_s: float) -> None:
        """Tell all."""
        for one in self._all:
            one.on_failure(held, why, pause_s)

    def on_fence(self, table_id: int, why: LakewardError) -> None:
        """Tell all."""
        for one in self._all:
            one.on_fence(table_id, why)

    def on_silence(self, why: LakewardError) -> None:
        """Tell all."""
        for one in self._all:
            one.on_silence(why)

    def close(self) -> None:
        """Tell all."""
        for one in self._all:
            one.close()
