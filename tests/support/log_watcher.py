"""A watcher that writes what the service does into the log."""

from __future__ import annotations

import logging

from lakeward.client.admin.lake import TieringRound
from lakeward.errors import LakewardError
from lakeward.tiering.round.round import RoundReport

logger = logging.getLogger("lakeward.tiering")


class LogWatcher:
    """One line for each thing worth knowing; a failure that stays the same is said once."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def on_begin(self, held: TieringRound) -> None:
        """Said when it ends."""

    def on_end(self, held: TieringRound, report: RoundReport) -> None:
        """Rows, bytes, files, time."""
        if report.repaired:
            logger.info("%s: the lake was ahead of the server, which now knows.", held.path)
        for line in report.left_out:
            logger.warning("%s, %s", held.path, line)
        self._say(held, " ".join(report.stopped))
        if report.snapshot_id is not None:
            logger.info(
                "%s: %s rows in %d files (%s bytes) in %.1f s, snapshot %d",
                held.path,
                f"{report.rows:,}",
                report.files,
                f"{report.file_bytes:,}",
                report.seconds,
                report.snapshot_id,
            )

    def on_overtake(self, held: TieringRound, why: LakewardError) -> None:
        """Not an error."""
        logger.info("%s: %s", held.path, why.message)

    def on_failure(self, held: TieringRound, why: LakewardError, pause_s: float) -> None:
        """The reason, and when it is tried again."""
        self._say(held, why.message, f" Tried again in {pause_s:.0f} s, and less and less often.")

    def _say(self, held: TieringRound, why: str, then: str = "") -> None:
        if why and self._said.get(str(held.path)) != why:
            logger.warning("%s: %s%s", held.path, why, then)
        self._said[str(held.path)] = why

    def on_fence(self, table_id: int, why: LakewardError) -> None:
        """Not an error: another round has begun."""
        logger.info("Table %d: %s", table_id, why.message)

    def on_silence(self, why: LakewardError) -> None:
        """It will be tried again."""
        logger.warning("The coordinator does not answer: %s", why.message)

    def close(self) -> None:
        """Nothing is left to say."""
