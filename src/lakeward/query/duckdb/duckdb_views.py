"""A plan as a view of DuckDB: files of the lake are its own Parquet scans, what is hot comes as Arrow.

A bucket of a primary key table that has changed since its snapshot is the scan of its files without the keys that the
changelog's tail has (an anti join, by DuckDB; docs/decisions/0028), and the tail's last rows.

A query that joins gets what is hot as tables of DuckDB: it knows how many rows these have, can read them again, and
pushes what it learns from one side of a join into the other. Into Arrow it cannot (duckdb-python issue 463), and
a scan of Arrow counts as one row when it orders joins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import pyarrow as pa

from lakeward.lake.port import LakeFile
from lakeward.query.duckdb.duck_session import duck_cursor
from lakeward.query.duckdb.duck_types import duck_schema, hide_bounds, select_sql, to_duck
from lakeward.query.duckdb.read_ahead import THREADS_MAX, ReadAhead
from lakeward.query.plan.plan import Plan, spread
from lakeward.query.plan.splits import LakeSplit
from lakeward.query.plan.union import TAIL_CHANGES_MAX
from lakeward.query.read.read import read_splits, read_tails, result_schema
from lakeward.query.read.tail import Tail
from lakeward.query.request.request import ReadRequest
from lakeward.records.arrow.coarser_columns import has_nanoseconds

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.model.table import TableInfo

#: Files of a bucket whose footers are worth a look, for keys that may be in them.
_JUDGED_FILES_MAX = 256
#: Files of a scan whose columns are remembered; more of them would take more memory than time.
_SEEN_FILES_MAX = 1000


class PlanView:
    """Makes a view of a plan in a DuckDB connection; `failure` is what went wrong in a stream that DuckDB pulled."""

    def __init__(self, conn: Connection, duck: Any, info: TableInfo, request: ReadRequest, plan: Plan) -> None:
        self._conn = conn
        self._duck = duck
        self._info = info
        self._request = request
        self._plan = plan
        self._read_schema = result_schema(info.schema, request)
        self._schema = duck_schema(self._read_schema)
        self._made = 0
        self._is_joined = False
        self._prefix = f"_{id(self):x}"
        self._ahead: ReadAhead | None = None
        self.failure: Exception | None = None
        #: What DuckDB reads by itself.
        self.scanned: tuple[LakeSplit, ...] = ()

    def create(self, view: str, *, is_joined: bool) -> None:
        """Create it; when it `is_joined`, with others or itself, rows are kept in tables instead of streamed."""
        self._is_joined = is_joined
        lakes = [s for s in self._plan.splits if isinstance(s, LakeSplit) and self._is_scanned(s)]
        rest = [s for s in self._plan.splits if not (isinstance(s, LakeSplit) and self._is_scanned(s))]
        hybrid = [s for s in lakes if s.log_offsets]
        if sum(s.log_offsets for s in hybrid) > TAIL_CHANGES_MAX:
            rest, lakes, hybrid = [*rest, *hybrid], [s for s in lakes if not s.log_offsets], []
        self.scanned = tuple(lakes)
        # The log is on its way while files are looked at, and while DuckDB reads them.
        tasks = spread([[split] for split in rest], THREADS_MAX)
        self._ahead = ReadAhead([partial(read_splits, self._conn, self._request, task) for task in tasks])
        tails = read_tails(self._conn, self._request, hybrid) if hybrid else []
        parts = [
            *self._scans([f for s in lakes if not s.log_offsets for f in s.files], None),
            *self._merge_parts(hybrid, tails),
            self._register(self._stream(self._ahead) if rest else self._read_schema.empty_table()),
        ]
        columns = ", ".join(_quote(name) for name in self._schema.names)
        self._duck.execute(
            f"CREATE OR REPLACE VIEW {view} AS " + " UNION ALL ".join(f"SELECT {columns} FROM {p}" for p in parts)
        )

    def _is_scanned(self, split: LakeSplit) -> bool:
        """Whether DuckDB reads the files; those of Paimon's primary key tables have to be merged first.

        It would cut off nanoseconds, which only Paimon's files have.
        """
        if split.format != "iceberg" and (split.format != "paimon" or self._info.descriptor.has_primary_key):
            return False
        if split.format == "paimon" and any(map(has_nanoseconds, self._read_schema.types)):
            return False
        return all(_is_local(f) and not f.equality_deletes for f in split.files)

    def close(self) -> None:
        """Stop reading what nobody has asked for."""
        if self._ahead is not None:
            self._ahead.close()

    # -- the lake -----------------------------------------------------------------------------------------------------

    def _merge_parts(self, splits: Sequence[LakeSplit], tails: Sequence[Tail]) -> Iterator[str]:
        """Files without the keys that have changed, and the rows that these have now."""
        if not splits:
            return
        held: list[LakeFile] = []
        left: list[LakeFile] = []
        for split, tail in zip(splits, tails, strict=True):
            many = len(split.files) > _JUDGED_FILES_MAX
            for file in split.files:
                is_held = many or tail.may_be_in(Path(_local(file.path)))
                (held if is_held else left).append(file)
        yield from self._scans(left, None)
        if held:
            yield from self._scans(held, self._register(pa.concat_tables([tail.keys for tail in tails])))
        yield self._register(pa.concat_tables([tail.rows.select(self._schema.names) for tail in tails]))

    def _scans(self, files: Sequence[LakeFile], keys: str | None) -> Iterator[str]:
        plain = [file for file in files if not file.deletes]
        touched = [file for file in files if file.deletes]
        if plain:
            yield self._scan(plain, keys, deletes=())
        if touched:
            yield self._scan(touched, keys, deletes=sorted({d.path for file in touched for d in file.deletes}))

    def _scan(self, files: Sequence[LakeFile], keys: str | None, deletes: Sequence[str]) -> str:
        source = f"read_parquet({_paths(f.path for f in files)}, union_by_name = true, hive_partitioning = false"
        there = (_columns_of if len(files) <= _SEEN_FILES_MAX else _columns_of.__wrapped__)(f"{source})")
        source += ", filename = true, file_row_number = true)" if deletes else ")"
        if deletes:
            gone = (
                "SELECT regexp_replace(file_path, '^file:(//)?', '') AS filename, pos AS file_row_number "
                f"FROM read_parquet({_paths(deletes)})"
            )
            source = f"{source} ANTI JOIN ({gone}) USING (filename, file_row_number)"
        types = _types_of(self._schema)
        wanted = ", ".join(
            hide_bounds(f"CAST({_quote(f.name) if f.name in there else 'NULL'} AS {types[f.name]})", f.type)
            + f" AS {_quote(f.name)}"
            for f in self._schema
        )
        if keys is None:
            return f"(SELECT {wanted} FROM {source})"
        names = self._info.schema.primary_key
        same = " AND ".join(f"f.{_quote(name)} = k.{_quote(name)}" for name in names)
        return f"(SELECT {wanted} FROM (SELECT * FROM {source}) f ANTI JOIN {keys} k ON {same})"

    # -- the log ------------------------------------------------------------------------------------------------------

    def _stream(self, ahead: ReadAhead) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(self._read_schema, self._rows(ahead))

    def _rows(self, ahead: ReadAhead) -> Iterator[pa.RecordBatch]:
        try:
            yield from ahead
        except Exception as wrong:
            self.failure = wrong
            raise

    def _register(self, rows: pa.Table | pa.RecordBatchReader) -> str:
        """Arrow rows by a name, or by what stands for a name in a FROM."""
        self._made += 1
        name = f"{self._prefix}_{self._made}"
        self._duck.register(name, to_duck(rows))
        selected = select_sql(rows.schema, name)
        if not self._is_joined:
            return f"({selected})"
        self._duck.execute(f"CREATE TABLE {name}_rows AS {selected}")
        self._duck.unregister(name)
        return f"{name}_rows"


def local_paths(plan: Plan) -> list[str]:
    """The files of a plan that DuckDB may read by itself, and those of their deletes."""
    files = {file for split in plan.splits if isinstance(split, LakeSplit) for file in split.files if _is_local(file)}
    return sorted({_local(path) for file in files for path in (file.path, *(d.path for d in file.deletes))})


@lru_cache(maxsize=32)
def _columns_of(source: str) -> frozenset[str]:
    """The columns of files. They are written once, so that what was found of them holds."""
    with duck_cursor() as duck:
        return frozenset(row[0] for row in duck.execute(f"DESCRIBE SELECT * FROM {source}").fetchall())


@lru_cache(maxsize=256)
def _types_of(schema: pa.Schema) -> dict[str, str]:
    """The types of columns, as DuckDB names them."""
    with duck_cursor() as duck:
        duck.register("empty", schema.empty_table())
        return {row[0]: row[1] for row in duck.execute("DESCRIBE empty").fetchall()}


def _is_local(file: LakeFile) -> bool:
    return all(urlparse(path).scheme in {"", "file"} for path in (file.path, *(d.path for d in file.deletes)))


def _paths(paths: Any) -> str:
    texts = (_local(path) for path in paths)
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"


def _local(path: str) -> str:
    return unquote(urlparse(path).path) if path.startswith("file:") else path


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
