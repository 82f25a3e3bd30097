"""Two tables that change all the time, one by key and one a log, and rounds of both."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import lakeward

#: What both tables are made with.
COLUMNS = "id BIGINT NOT NULL, n BIGINT"
_KEYS, _BATCH = 300, 40


class BusyTables:
    """A writer and rounds that go on beside whoever looks; pauses between their turns in seconds."""

    def __init__(
        self,
        keyed: lakeward.Table,
        log: lakeward.Table,
        tier: Callable[[lakeward.Table], Any],
        *,
        pauses_s: tuple[float, float],
    ) -> None:
        self._keyed, self._log, self._round, self._pauses_s = keyed, log, tier, pauses_s
        self.rounds = 0
        #: Who holds it sees rows that stand still; rounds go on.
        self.still = threading.Lock()
        self._ended = threading.Event()
        self._chance = random.Random(21)
        self._n = 0

    def write(self) -> None:
        """One batch: numbers only grow, some keys go and come back."""
        with self.still:
            self._n += 1
            ids = [self._chance.randrange(_KEYS) for _ in range(_BATCH)]
            self._keyed.upsert([{"id": i, "n": self._n} for i in ids])
            self._keyed.delete([{"id": self._chance.randrange(_KEYS)}])
            self._log.append([{"id": i, "n": self._n} for i in ids])

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Batches and rounds until the end of it; what fails in them fails here."""

        def again(work: Callable[[], None], pause_s: float) -> None:
            while not self._ended.wait(pause_s):
                work()

        with ThreadPoolExecutor(2) as threads:
            works = zip((self.write, self._tier), self._pauses_s, strict=True)
            running = [threads.submit(again, work, pause_s) for work, pause_s in works]
            try:
                yield
            finally:
                self._ended.set()
            for one in running:
                one.result()

    def _tier(self) -> None:
        for table in (self._keyed, self._log):
            self._round(table)
        self.rounds += 1
