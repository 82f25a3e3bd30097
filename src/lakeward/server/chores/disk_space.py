"""DiskSpace: writes stop before the disk is full, or when its directory is gone; they go on when all is well again."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options import server as rows
from lakeward.options.server_options import ServerOptions
from lakeward.server.chores.write_stop import WriteStop
from lakeward.storage.disk.directories import DataDirectory

_log = logging.getLogger(__name__)
FULL = "full disk"
GONE = "data directory"
_GB, _MB = 1 << 30, 1 << 20
#: With less than this a disk is as good as full.
_LEAST_BYTES = 1 << 20


class DiskSpace:
    """How much of the disk below the data directory is in use."""

    def __init__(self, data: DataDirectory, options: Callable[[], ServerOptions], writes: WriteStop) -> None:
        self._data = data
        self._directory = data.root
        self._options = options
        self._writes = writes
        self.used_share = 0.0
        self.free_bytes = self.total_bytes = 0
        #: What is said while the disk takes nothing any more, though no limit has been set that would stop writes.
        self._out: LakewardError | None = None

    @property
    def reasons(self) -> dict[str, str]:
        """Why nothing can be written now: reason → what to do."""
        out = {} if self._out is None else {FULL: self._out.message}
        return {**out, **self._writes.reasons}

    def check(self) -> None:
        """Refuse what needs room while there is none."""
        self._writes.check()
        if self._out is not None:
            raise self._out.code.error(self._out.message)

    def look(self) -> None:
        """Look at the disk; call it every second or so."""
        if not self._is_in_place():
            return
        free_bytes, total_bytes = self._data.disk.space(self._directory)
        self.free_bytes, self.total_bytes = free_bytes, total_bytes
        self.used_share = 1 - free_bytes / total_bytes if total_bytes else 0.0
        limit = self._options().get(rows.DISK_WRITE_LIMIT)
        recover = min(self._options().get(rows.DISK_WRITE_RECOVER), limit)
        if FULL in self._writes:
            if self.used_share <= recover or limit >= 1:
                self._writes.resume(FULL)
                _log.warning("%s has room again (%.1f %% in use): writes go on", self._directory, 100 * self.used_share)
        elif limit < 1 and self.used_share >= limit:
            missing_mb = (self.used_share - recover) * total_bytes / _MB
            told = (
                f"The server's disk ({self._directory}) is {100 * self.used_share:.1f} % full, {free_bytes / _GB:.1f} "
                f"GB are left: no writes until it is below {100 * recover:.0f} %. To free: {missing_mb:,.0f} MB; "
                f"tables can be dropped. Or change {rows.DISK_WRITE_LIMIT.key} ({limit:g})."
            )
            self._writes.stop(FULL, ErrorCode.DISK_WRITE_LOCKED.error(told))
            _log.error("%s Reads go on.", told)
        self._see_whether_out(free_bytes, limit)

    def _is_in_place(self) -> bool:
        """Open files of a directory that was removed take writes as before, and all of them are lost at the end."""
        if self._data.is_in_place():
            if GONE in self._writes:
                self._writes.resume(GONE)
                _log.warning("%s is where it was again: writes go on", self._directory)
            return True
        if GONE not in self._writes:
            told = (
                f"The data directory {self._directory} is not the one that this server has opened: it, or the lock in "
                "it, was moved, removed or replaced. No writes, since they would be lost. Put back what was there, or "
                "stop the server, see to the directory, and start it."
            )
            self._writes.stop(GONE, ErrorCode.DISK_WRITE_LOCKED.error(told))
            _log.error("%s", told)
        return False

    def _see_whether_out(self, free_bytes: int, limit: float) -> None:
        """Without a limit the disk itself refuses writes; then at least it is said, and nothing new is begun."""
        if limit < 1 or free_bytes > _LEAST_BYTES:
            self._out = None
        elif self._out is None:
            told = (
                f"The server's disk ({self._directory}) is full: {free_bytes:,} bytes are left, writes fail. To free: "
                f"{_LEAST_BYTES / _MB:.0f} MB at the least; tables can be dropped."
            )
            self._out = ErrorCode.DISK_WRITE_LOCKED.error(told)
            _log.error("%s Reads go on.", told)
