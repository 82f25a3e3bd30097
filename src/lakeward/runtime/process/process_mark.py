"""A mark by which a process is known again: its number alone may soon be another's."""

from __future__ import annotations

from pathlib import Path

_START = 19  # the 22nd field of the line, counted after the name and the state's field


def process_mark(pid: int) -> str | None:
    """Number and start of a running process; None when it has ended, or where the system does not tell."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = told.rpartition(")")[2].split()
    return None if state in {"Z", "X"} else f"{pid}:{fields[_START - 1]}"


def is_marked_alive(mark: str) -> bool:
    """Whether the process that got this mark still runs."""
    return process_mark(int(mark.partition(":")[0])) == mark
