"""DiskSpace: writes stop before the disk is full, and go on by themselves when there is room again."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.options import server as rows
from lakeward.options.server_options import ServerOptions
from lakeward.server.tablet.write_stop import WriteStop

_log = logging.getLogger(__name__)
FULL = "full disk"
_GB = 1 << 30


class DiskSpace:
    """How much of the disk below the data directory is in use."""

    def __init__(self, directory: Path, options: Callable[[], ServerOptions], writes: WriteStop) -> None:
        self._directory = directory
        self._options = options
        self._writes = writes
        self.used_share = 0.0

    def look(self) -> None:
        """Look at the disk; call it every second or so."""
        found = os.statvfs(self._directory)
        free_bytes, total_bytes = found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
        self.used_share = 1 - free_bytes / total_bytes if total_bytes else 0.0
        limit = self._options().get(rows.DISK_WRITE_LIMIT)
        recover = min(self._options().get(rows.DISK_WRITE_RECOVER), limit)
        if FULL in self._writes:
            if self.used_share <= recover or limit >= 1:
                self._writes.resume(FULL)
                _log.warning("%s has room again (%.1f %% in use): writes go on", self._directory, 100 * self.used_share)
        elif limit < 1 and self.used_share >= limit:
            told = (
                f"The server's disk ({self._directory}) is {100 * self.used_share:.1f} % full, {free_bytes / _GB:.1f} "
                f"GB are left: no writes until it is below {100 * recover:.0f} %. Make room, or change "
                f"{rows.DISK_WRITE_LIMIT.key} ({limit:g})."
            )
            self._writes.stop(FULL, ErrorCode.DISK_WRITE_LOCKED.error(told))
            _log.error("%s Reads go on.", told)
