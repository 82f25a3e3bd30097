"""DiskThread: slow work on disk (sync, delete, write snapshots), beside the loop and in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor

from lakeward.errors import LakewardError

_log = logging.getLogger(__name__)


class DiskThread:
    """One thread. What fails on it is logged, and the next piece of work is done."""

    def __init__(self, thread: Executor) -> None:
        self._thread = thread

    def later(self, job: Callable[[], None]) -> None:
        """Do something when all that was given before is done."""
        self._thread.submit(_run, job)

    async def settle(self) -> None:
        """Wait for all that was given up to now."""
        await asyncio.get_running_loop().run_in_executor(self._thread, lambda: None)

    def close(self) -> None:
        """Do what is left, then no more."""
        self._thread.shutdown(wait=True)


def _run(job: Callable[[], None]) -> None:
    try:
        job()
    except FileNotFoundError:
        _log.debug("a file went away under %s; its table was dropped", job)
    except (LakewardError, OSError) as wrong:
        _log.error("work on disk failed: %s", wrong)  # a full disk is no bug to be traced
    except Exception:  # noqa: BLE001 - the thread must live on
        _log.exception("work on disk failed")
