"""DuckDB for people who are not trusted with this machine: no files but the lake's, no network, bounded memory.

An instance of its own for each question, since what is closed in one is closed for all who use it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakeward.query.duckdb.duck_session import connect_duckdb


@dataclass(frozen=True, slots=True)
class DuckBounds:
    """What one question may take."""

    memory_bytes: int = 512 << 20
    spill_bytes: int = 2 << 30
    threads: int = 2


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
def closed_session(bounds: DuckBounds) -> Iterator[ClosedSession]:
    """An instance that ends here, with what it has spilled to disk."""
    spill = Path(tempfile.mkdtemp(prefix=f"lakeward-question-{os.getpid()}-"))
    duck = connect_duckdb()
    try:
        for setting in (
            f"memory_limit = '{bounds.memory_bytes}B'",
            f"temp_directory = {_text(str(spill))}",
            f"max_temp_directory_size = '{bounds.spill_bytes}B'",
            f"threads = {bounds.threads}",
            "TimeZone = 'UTC'",
        ):
            duck.execute(f"SET {setting}")
        yield ClosedSession(duck)
    finally:
        duck.close()
        shutil.rmtree(spill, ignore_errors=True)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
