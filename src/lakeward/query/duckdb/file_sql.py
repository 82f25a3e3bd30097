"""Files of a local lake as DuckDB is told of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote, urlparse

from lakeward.lake.port import LakeFile

#: Columns of a scan: `filename`, under a name that no table has, and what DuckDB calls the position of a row.
FILE, POSITION = "__lakeward_file", "file_row_number"
#: Paths that are taken apart once; each takes a few hundred bytes.
_SEEN_PATHS_MAX = 4096


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


def scan_sql(paths: Iterable[str], *, places: bool = False) -> str:
    """Files, by the names of their columns; with `places` each row says where it is: `FILE` and `POSITION`."""
    more = f", filename = '{FILE}', file_row_number = true" if places else ""
    return f"read_parquet({paths_sql(paths)}, union_by_name = true, hive_partitioning = false{more})"


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
