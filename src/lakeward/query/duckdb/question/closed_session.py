"""DuckDB for people who are not trusted with this machine: no files but the lake's, no network, bounded memory.

An instance of its own for each question, since what is closed in one is closed for all who use it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from lakeward.query.duckdb.duck_session import connect_duckdb


@dataclass(frozen=True, slots=True)
class DuckBounds:
    """What one question may take."""

    memory_bytes: int = 512 << 20
    spill_bytes: int = 2 << 30
    threads: int = 2


#: The zone of those that name none.
UTC = "UTC"
#: Instances that are kept for questions without tables.
_BARE_MAX = 4
#: What a question takes beside what DuckDB counts: rows of the log on their way to it, and to whoever asks.
_BESIDE = 1.25
#: What a program takes beside its questions: libraries that are loaded late, threads, what it remembers of lakes.
_PROGRAM_BYTES = 1 << 30


def memory_of(questions: Iterable[DuckBounds]) -> int:
    """How much memory a program may take that answers so many questions at once.

    DuckDB's own limit does not count a huge value that one function makes (docs/decisions/0071).
    """
    return int(sum(bounds.memory_bytes for bounds in questions) * _BESIDE) + _PROGRAM_BYTES


class ClosedSession:
    """A connection that is open until `close_doors`: then only the paths that were named can be read."""

    def __init__(self, duck: Any) -> None:
        self.duck = duck

    def close_doors(self, paths: Iterable[str] = ()) -> None:
        """From here on no other file, no network, no extension, and no way back."""
        self.duck.execute(f"SET allowed_paths = [{', '.join(map(_text, paths))}]")
        for setting in (
            "enable_external_access = false",
            "python_enable_replacements = false",  # variables of this program are no tables
            "errors_as_json = true",
            "lock_configuration = true",
        ):
            self.duck.execute(f"SET {setting}")


@contextmanager
def closed_session(bounds: DuckBounds, time_zone: str = UTC) -> Iterator[ClosedSession]:
    """An instance that ends here, with what it has spilled to disk."""
    spill = Path(tempfile.mkdtemp(prefix=f"lakeward-question-{os.getpid()}-"))
    duck = connect_duckdb()
    try:
        for setting in (
            f"memory_limit = '{bounds.memory_bytes}B'",
            f"temp_directory = {_text(str(spill))}",
            f"max_temp_directory_size = '{bounds.spill_bytes}B'",
            f"threads = {bounds.threads}",
            f"TimeZone = {_text(time_zone)}",
        ):
            duck.execute(f"SET {setting}")
        yield ClosedSession(duck)
    finally:
        duck.close()
        shutil.rmtree(spill, ignore_errors=True)


@contextmanager
def bare_session(bounds: DuckBounds, time_zone: str = UTC) -> Iterator[ClosedSession]:
    """One for a question without tables, its doors closed: nothing is left in it that the next could find.

    Opening an instance takes longer than most such questions, of which pools of connections ask many.
    """
    kept = _BARE.take(bounds) if time_zone == UTC else None
    if kept is None:
        held = ExitStack()
        session = held.enter_context(closed_session(bounds, time_zone))
        session.close_doors()
        kept = _Bare(session, held)
    try:
        yield kept.session
    except BaseException:
        kept.held.close()
        raise
    if time_zone == UTC:
        _BARE.put(bounds, kept)
    else:
        kept.held.close()


@dataclass(frozen=True, slots=True)
class _Bare:
    session: ClosedSession
    held: ExitStack


class _BareSessions:
    """Those that nobody uses, a few."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._idle: dict[DuckBounds, list[_Bare]] = {}

    def take(self, bounds: DuckBounds) -> _Bare | None:
        with self._lock:
            idle = self._idle.get(bounds)
            return idle.pop() if idle else None

    def put(self, bounds: DuckBounds, bare: _Bare) -> None:
        with self._lock:
            idle = self._idle.setdefault(bounds, [])
            if len(idle) < _BARE_MAX:
                idle.append(bare)
                return
        bare.held.close()


_BARE = _BareSessions()


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
