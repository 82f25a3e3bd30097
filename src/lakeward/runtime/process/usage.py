"""Usage: what this process takes of the machine, as far as the system tells."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc/self")
_START_TICKS_FIELD = 19  # of those behind the name of the program, which may hold blanks


class Usage(NamedTuple):
    """None is what this system does not tell."""

    cpu_s: float | None = None
    resident_bytes: int | None = None
    virtual_bytes: int | None = None
    open_files: int | None = None
    files_max: int | None = None
    start_time_s: float | None = None


def usage_now() -> Usage:
    """Of this process."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    cpu_s, files_max = time.process_time(), None if limit == resource.RLIM_INFINITY else limit
    try:
        pages = (_PROC / "statm").read_text().split()
        page_bytes = os.sysconf("SC_PAGE_SIZE")
        return Usage(
            cpu_s,
            int(pages[1]) * page_bytes,
            int(pages[0]) * page_bytes,
            len(os.listdir(_PROC / "fd")),  # noqa: PTH208 - names are enough
            files_max,
            _start_time_s(),
        )
    except OSError:  # no Linux
        return Usage(cpu_s=cpu_s, files_max=files_max)


def _start_time_s() -> float:
    ticks = int((_PROC / "stat").read_text().rpartition(")")[2].split()[_START_TICKS_FIELD])
    boot = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime "))
    return int(boot.split()[1]) + ticks / os.sysconf("SC_CLK_TCK")
