"""DuckDB for one query. The process has one instance, since opening one takes longer than many a query.

A database with its views takes about as long to make as a small query over them, so databases wait for the next query
of the same tables (`kept_session`). A view is no more than its text: whoever needs the same text has no need to make it
again, and whoever needs another one puts it in its place. Connections are new each time, with all that a query can
leave in one: temporary tables and types, registered rows, the seed of random().
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock, get_ident
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.runtime.process.held_signals import hold_signals

_lock = Lock()
_opened: dict[int, Any] = {}
_paths: dict[int, str] = {}
_numbers = count()
_idle: deque[KeptDatabase] = deque()
#: One takes ten kilobytes.
IDLE_MAX = 64
#: Where tables are that outlive a query. It is made with the instance: ATTACH IF NOT EXISTS may fail beside another.
KEPT_DATABASE = "lakeward_kept"
#: Footers of files that were read before are remembered by path and time; their data is not, it would fill the memory.
_SETTINGS = ("SET parquet_metadata_cache = true", "SET enable_external_file_cache = false")


class KeptDatabase:
    """A database of one query at a time; `views` are the texts of views in it, by who knows their names."""

    def __init__(self, tables: Hashable) -> None:
        self.tables = tables
        self.views: dict[Hashable, str] = {}
        self.process = os.getpid()
        self.name = f"query_{next(_numbers)}"
        with duck_cursor() as duck:
            duck.execute(f"ATTACH ':memory:' AS {self.name}")

    def drop(self) -> None:
        """Nobody uses it any more."""
        with duck_cursor() as duck:
            duck.execute(f"DETACH {self.name}")


@contextmanager
def duck_session() -> Iterator[Any]:
    """A connection with a database of its own, which is gone afterwards with all views in it."""
    database = KeptDatabase(None)
    try:
        with _connection(database) as duck:
            yield duck
    finally:
        database.drop()


@contextmanager
def kept_session(tables: Hashable) -> Iterator[tuple[Any, dict[Hashable, str]]]:
    """The same in a database that an earlier query of exactly these tables may have left, and the views there.

    Whoever makes a view notes its text. A query that fails leaves nothing.
    """
    database = _take(tables) or KeptDatabase(tables)
    is_well = False
    try:
        with _connection(database) as duck:
            yield duck, database.views
        is_well = True
    finally:
        if not is_well:
            database.drop()
        elif (oldest := _put(database)) is not None:
            oldest.drop()


@contextmanager
def _connection(database: KeptDatabase) -> Iterator[Any]:
    duck = duck_cursor()
    try:
        duck.execute(f"USE {database.name}")
        yield duck
    except BaseException:
        duck.interrupt()  # what it still works on, after Ctrl-C, `close` would wait for
        raise
    finally:
        # Also while an answer was on its way that nobody took: the database must not be in use when it goes.
        duck.close()


def _take(tables: Hashable) -> KeptDatabase | None:
    with _lock:
        while _idle and _idle[0].process != os.getpid():
            _idle.popleft()  # those of the process that this one was forked from
        found = next((one for one in reversed(_idle) if one.tables == tables), None)
        if found is not None:
            _idle.remove(found)
        return found


def _put(database: KeptDatabase) -> KeptDatabase | None:
    """Let it wait; the one that has waited longest makes room."""
    with _lock:
        _idle.append(database)
        return _idle.popleft() if len(_idle) > IDLE_MAX else None


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
    load_duckdb()
    import duckdb

    made = duckdb.connect(path)
    for setting in _SETTINGS:
        made.execute(setting)
    return made


def load_duckdb() -> None:
    """All of it, or nothing: half of it loaded, by a Ctrl-C, would be of no use to this process any more."""
    if "duckdb" in sys.modules:
        return
    try:
        with hold_signals():
            import duckdb  # noqa: F401
    except ModuleNotFoundError as missing:
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            "SQL without Spark needs DuckDB, which is not installed: pip install 'lakeward[duckdb]'."
        ) from missing


def _open() -> Any:
    path = _paths[os.getpid()] = f":memory:lakeward-{os.getpid()}"
    made = connect_duckdb(path)
    # What memory cannot hold does not go into the directory that the caller happens to stand in.
    spill = Path(tempfile.gettempdir()) / f"lakeward-duckdb-{os.getpid()}"
    made.execute(f"ATTACH ':memory:' AS {KEPT_DATABASE}")
    made.execute(f"SET temp_directory = '{str(spill).replace(chr(39), chr(39) * 2)}'")
    return made
