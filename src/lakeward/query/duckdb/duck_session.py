"""DuckDB for one query. The process has one instance, since opening one takes longer than many a query."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock, get_ident
from typing import Any

from lakeward.errors import ErrorCode

_lock = Lock()
_opened: dict[int, Any] = {}
_paths: dict[int, str] = {}
_numbers = count()
#: Footers of files that were read before are remembered by path and time; their data is not, it would fill the memory.
_SETTINGS = ("SET parquet_metadata_cache = true", "SET enable_external_file_cache = false")


@contextmanager
def duck_session() -> Iterator[Any]:
    """A connection with a database of its own, which is gone afterwards with all views in it."""
    duck = _instance().cursor()
    name = f"query_{next(_numbers)}"
    try:
        duck.execute(f"ATTACH ':memory:' AS {name}")
        duck.execute(f"USE {name}")
        yield duck
    finally:
        # Also while an answer was on its way that nobody took: the database must not be in use when it goes.
        duck.close()
        with _instance().cursor() as last:
            last.execute(f"DETACH {name}")


def duck_cursor() -> Any:
    """A connection that only looks at texts."""
    return _instance().cursor()


def instance_path() -> str:
    """The name by which this process's instance can be found, by who has other ways to it than Python's."""
    _instance()
    return _paths[os.getpid()]


def give_rows(duck: Any, name: str, rows: Any) -> None:
    """Arrow rows by a name. DuckDB asks whether they are pandas', and would import all of it only to ask."""
    finder = _NoPandas(get_ident())
    sys.meta_path.insert(0, finder)
    try:
        duck.register(name, rows)
    finally:
        sys.meta_path.remove(finder)


class _NoPandas:
    """As if pandas were not installed, for one thread; where it is loaded already, nobody asks."""

    def __init__(self, thread: int) -> None:
        self._thread = thread

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        if name == "pandas" and get_ident() == self._thread:
            raise ModuleNotFoundError("pandas is not looked for here", name=name)


def _instance() -> Any:
    with _lock:
        found = _opened.get(os.getpid())
        if found is None:  # the first one here, or in a process that was forked
            found = _opened[os.getpid()] = _open()
        return found


def connect_duckdb(path: str = ":memory:") -> Any:
    """An instance of DuckDB, with the settings that all of ours have."""
    try:
        import duckdb
    except ModuleNotFoundError as missing:
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            "SQL without Spark needs DuckDB, which is not installed: pip install 'lakeward[duckdb]'."
        ) from missing
    made = duckdb.connect(path)
    for setting in _SETTINGS:
        made.execute(setting)
    return made


def _open() -> Any:
    path = _paths[os.getpid()] = f":memory:lakeward-{os.getpid()}"
    made = connect_duckdb(path)
    # What memory cannot hold does not go into the directory that the caller happens to stand in.
    spill = Path(tempfile.gettempdir()) / f"lakeward-duckdb-{os.getpid()}"
    made.execute(f"SET temp_directory = '{str(spill).replace(chr(39), chr(39) * 2)}'")
    return made
