"""Housekeeper: after some rounds of a table its lake table is tidied up, in the background, one at a time.

`table.datalake.auto-compaction` makes large files of small ones, `table.datalake.auto-expire-snapshot` drops snapshots
that are too old. Rounds never wait for either.
"""

from __future__ import annotations

import logging
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from lakeward.client.admin.lake import TieringRound
from lakeward.client.blocking.sync import Connection
from lakeward.errors import LakewardError
from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.port import KeepsHouse
from lakeward.model.table import TablePath
from lakeward.options.table import LAKE_AUTO_COMPACTION, LAKE_AUTO_EXPIRE
from lakeward.runtime.clock import Clock
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.round import RoundReport

logger = logging.getLogger(__name__)

_ROUNDS_BETWEEN = 8


class Housekeeper:
    """A watcher that tidies up."""

    def __init__(
        self, conn: Connection, catalogs: LakeCatalogs, clock: Clock, rounds_between: int = _ROUNDS_BETWEEN
    ) -> None:
        self._conn = conn
        self._catalogs = catalogs
        self._clock = clock
        self._rounds_between = rounds_between
        self._rounds: Counter[int] = Counter()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tiering-housekeeper")

    def on_end(self, held: TieringRound, report: RoundReport) -> None:
        """After every so many rounds that moved rows."""
        if report.snapshot_id is None:
            return
        self._rounds[held.table_id] += 1
        if self._rounds[held.table_id] % self._rounds_between == 0:
            self._thread.submit(self._tidy_safely, held.path)

    def tidy(self, path: TablePath) -> None:
        """What a table's properties ask for, now."""
        info = self._conn.table(str(path)).info
        properties = info.descriptor.properties
        compacts, expires = LAKE_AUTO_COMPACTION.read(properties), LAKE_AUTO_EXPIRE.read(properties)
        if not (compacts or expires):
            return
        lake = self._catalogs.of(info).ensure(info)
        if not isinstance(lake, KeepsHouse):
            return
        if compacts and (gone := lake.compact()):
            logger.info("%s: %d small files in the lake became fewer.", path, gone)
        if expires:
            told = self._conn.lake.snapshot(path)  # what readers of the cluster are sent to
            expired = lake.expire(self._clock.now_ms(), [] if told is None else [told.snapshot_id])
            if expired:
                logger.info("%s: %d old snapshots in the lake expired.", path, expired)

    def _tidy_safely(self, path: TablePath) -> None:
        try:
            self.tidy(path)
        except LakeConflictError as wrong:
            logger.info("%s: %s", path, wrong.message)
        except LakewardError as wrong:
            logger.warning("%s: the lake was not tidied up: %s", path, wrong.message)
        except Exception:
            logger.warning("%s: the lake was not tidied up.", path, exc_info=True)

    def close(self) -> None:
        """End after what runs; what waits is for another day."""
        self._thread.shutdown(cancel_futures=True)

    # -- of no interest -----------------------------------------------------------------------------------------------

    def on_begin(self, held: TieringRound) -> None:
        """Of no interest."""

    def on_overtake(self, held: TieringRound, why: LakewardError) -> None:
        """Of no interest."""

    def on_failure(self, held: TieringRound, why: LakewardError, pause_s: float) -> None:
        """Of no interest."""

    def on_fence(self, table_id: int, why: LakewardError) -> None:
        """Of no interest."""

    def on_silence(self, why: LakewardError) -> None:
        """Of no interest."""
