"""File descriptors: as many as the operating system lets this process have."""

from __future__ import annotations

import resource


def raise_limit(wanted: int) -> int:
    """Ask for this many descriptors; returns how many there may be, which is what the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    new = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    while new > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (new, hard))
        except (OSError, ValueError):  # macOS allows less than it says
            new //= 2
        else:
            return new
    return soft
