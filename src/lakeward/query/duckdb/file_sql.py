"""Files of a local lake as DuckDB is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from threading import Lock
from urllib.parse import unquote, urlparse

from lakeward.lake.port import LakeFile
from lakeward.query.duckdb.duck_session import duck_cursor

#: Columns of a scan: `filename`, under a name that no table has, and what DuckDB calls the position of a row.
FILE, POSITION = "__lakeward_file", "file_row_number"
#: Paths that are taken apart once; each takes a few hundred bytes.
_SEEN_PATHS_MAX = 4096
#: Files whose shapes are remembered, for they are written once; each takes about 300 bytes.
_SHAPES_MAX = 20_000
_SHAPE = "name, type, type_length, repetition_type, num_children, converted_type, scale, precision, logical_type"

_lock = Lock()
_shapes: dict[str, int] = {}


def is_local(file: LakeFile) -> bool:
    """Whether a file and its deletes are on this machine."""
    return all(_is_here(path) for path in (file.path, *(d.path for d in file.deletes)))


@lru_cache(maxsize=_SEEN_PATHS_MAX)
def _is_here(path: str) -> bool:
    return urlparse(path).scheme in {"", "file"}


@lru_cache(maxsize=_SEEN_PATHS_MAX)
def local_path(path: str) -> str:
    """The path of a location on this machine."""
    return unquote(urlparse(path).path) if path.startswith("file:") else path


def paths_sql(paths: Iterable[str]) -> str:
    """A list of files."""
    texts = (local_path(path) for path in paths)
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"


def scan_sql(paths: Iterable[str], *, places: bool = False, alike: bool = False) -> str:
    """Files, by the names of their columns; with `places` each row says where it is: `FILE` and `POSITION`.

    Where they are `alike`, DuckDB looks at the columns of the first alone.
    """
    more = f", filename = '{FILE}', file_row_number = true" if places else ""
    more += "" if alike else ", union_by_name = true"
    return f"read_parquet({paths_sql(paths)}, hive_partitioning = false{more})"


def are_alike(paths: Sequence[str]) -> bool:
    """Whether all of these have the same columns, in the same order and types; in doubt they have not."""
    if not 1 < len(paths) <= _SHAPES_MAX:
        return len(paths) == 1
    files = list(map(local_path, paths))
    with _lock:
        known = {file: _shapes[file] for file in files if file in _shapes}
    new = [file for file in files if file not in known]
    if new:
        asked = f"SELECT file_name, hash(list(({_SHAPE}))) FROM parquet_schema({paths_sql(new)}) GROUP BY file_name"  # noqa: S608
        with duck_cursor() as duck:
            found: dict[str, int] = dict(duck.execute(asked).fetchall())
        known |= found
        with _lock:
            if len(_shapes) + len(found) > _SHAPES_MAX:
                _shapes.clear()
            _shapes.update(found)
    return len({known.get(file) for file in files} - {None}) == 1 and len(known) == len(set(files))


def has_places(columns: Iterable[str]) -> bool:
    """Whether rows of files with these columns can say where they are; DuckDB cannot name a position otherwise."""
    return not {FILE, POSITION} & {name.lower() for name in columns}


def gone_sql(deletes: Iterable[str]) -> str:
    """What selects the rows that files of position deletes name: `file` and `pos`."""
    return (
        "SELECT regexp_replace(file_path, '^file:(//)?', '') AS file, pos "  # noqa: S608
        f"FROM read_parquet({paths_sql(deletes)})"
    )


def quote(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
