"""A bound on the memory of this process: who asks for more is told that there is none, instead of the machine's end."""

from __future__ import annotations

import re
import resource
import threading
from pathlib import Path

#: Stacks of threads count as memory, whether they are used or not.
_STACK_BYTES = 2 << 20
_DATA = re.compile(r"^VmData:\s+(\d+) kB$", re.MULTILINE)


def limit_memory(more_bytes: int) -> int | None:
    """Let this process take so much more than it has now; what it may then have, None where the system cannot say.

    Called before threads are started.
    """
    taken = _taken_bytes()
    if taken is None:
        return None
    limit = taken + more_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY and hard < limit:
        return hard
    threading.stack_size(_STACK_BYTES)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    return limit


def _taken_bytes() -> int | None:
    """What the system counts: memory that is this process's own and can be written."""
    try:
        found = _DATA.search(Path("/proc/self/status").read_text())
    except OSError:
        return None
    return None if found is None else int(found[1]) << 10
