"""A plan as a view of DuckDB: files of the lake are its own Parquet scans, what is hot comes as Arrow.

A bucket of a primary key table that has changed since its snapshot is the scan of its files without the keys that the
changelog's tail has (an anti join, by DuckDB; docs/decisions/0028), and the tail's last rows.

A query that joins gets what is hot as tables of DuckDB: it knows how many rows these have, can read them again, and
pushes what it learns from one side of a join into the other. Into Arrow it cannot (duckdb-python issue 463), and
a scan of Arrow counts as one row when it orders joins. Such tables are kept for the next query (`hot_tables`): then
old rows of changed keys are left out by their positions in the files, which are looked up once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.lake.port import LakeFile
from lakeward.query.duckdb.duck_session import duck_cursor, give_rows
from lakeward.query.duckdb.duck_types import duck_schema, hide_bounds, select_sql, to_duck
from lakeward.query.duckdb.file_sql import (
    FILE,
    POSITION,
    gone_sql,
    has_places,
    is_local,
    local_path,
    quote,
    scan_sql,
)
from lakeward.query.duckdb.gone_rows import LeftOut
from lakeward.query.duckdb.hot_rows import HotRows, touched_files
from lakeward.query.duckdb.hot_tables import HotTables
from lakeward.query.duckdb.read_ahead import THREADS_MAX, ReadAhead
from lakeward.query.plan.plan import Plan, spread
from lakeward.query.plan.splits import LakeSplit, LogSplit, Split
from lakeward.query.plan.union import TAIL_CHANGES_MAX
from lakeward.query.read.read import read_splits, read_tails, result_schema
from lakeward.query.read.tail import Tail
from lakeward.query.request.request import ReadRequest
from lakeward.records.arrow.coarser_columns import has_nanoseconds

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table

#: Files of a bucket whose footers are worth a look, for keys that may be in them.
_JUDGED_FILES_MAX = 256
#: Files of a scan whose columns are remembered; more of them would take more memory than time.
_SEEN_FILES_MAX = 1000


class PlanView:
    """Makes a view of a plan in a DuckDB connection; `failure` is what went wrong in a stream that DuckDB pulled."""

    def __init__(
        self,
        conn: Connection,
        duck: Any,
        table: Table,
        request: ReadRequest,
        plan: Plan,
        *,
        is_joined: bool,
    ) -> None:
        """When it `is_joined`, with others or itself, rows are put into tables instead of streamed."""
        self._hot: HotRows | None = None
        self._left_out: LeftOut | None = None
        self._conn = conn
        self._duck = duck
        self._table = table
        self._info = info = table.info
        self._request = request
        self._plan = plan
        self._read_schema = result_schema(info.schema, request)
        self._schema = duck_schema(self._read_schema)
        self._made = 0
        self._is_joined = is_joined
        self._prefix = f"_{id(self):x}"
        self._ahead: ReadAhead | None = None
        self.failure: Exception | None = None
        #: What DuckDB reads by itself.
        self.scanned: tuple[LakeSplit, ...] = ()

    def look_up(self, kept: HotTables, seen: HotRows | None = None) -> None:
        """Take what is hot from what the connection keeps, if `duck` is of the instance that has it; on any thread.

        `seen` is what of it is known to hold.
        """
        _, rest = self._halves
        if self._can_keep(rest):
            self._hot = kept.rows(self._conn, self._table, self._request, self._plan, seen, is_joined=self._is_joined)

    @property
    def lasts(self) -> bool:
        """Whether the text that `begin` gave means the same as long as what it names is there: files, kept tables."""
        return not self._made

    @property
    def gone_file(self) -> str | None:
        """A file of the plan that is not there any more."""
        return next((path for path in local_paths(self._plan) if not Path(path).exists()), None)

    def begin(self) -> str:
        """Begin to read; the text of the view. The same text is the same rows: files and kept tables never change."""
        lakes, rest = self._halves
        self.scanned = tuple(lakes)
        parts = list(self._parts(lakes, rest) if self._hot is None else self._kept_parts(self._hot, lakes, rest))
        columns = ", ".join(quote(name) for name in self._schema.names)
        return " UNION ALL ".join(f"SELECT {columns} FROM {part}" for part in parts)

    @cached_property
    def _halves(self) -> tuple[list[LakeSplit], list[Split]]:
        """What DuckDB scans, with the changes to it, and the rest, which is read here."""
        lakes: list[LakeSplit] = []
        rest: list[Split] = []
        for split in self._plan.splits:
            if isinstance(split, LakeSplit) and self._is_scanned(split):
                lakes.append(split)
            else:
                rest.append(split)
        if sum(s.log_offsets for s in lakes) > TAIL_CHANGES_MAX:
            return [s for s in lakes if not s.log_offsets], [*rest, *(s for s in lakes if s.log_offsets)]
        return lakes, rest

    def _can_keep(self, rest: Sequence[Split]) -> bool:
        """Not what has to be merged here, nor changes whose old rows have no places that DuckDB could tell."""
        if self._info.descriptor.has_primary_key and not has_places(self._info.schema.names):
            return False
        return not any(isinstance(s, LakeSplit) and s.log_offsets for s in rest)

    def _parts(self, lakes: Sequence[LakeSplit], rest: Sequence[Split]) -> Iterator[str]:
        # The log is on its way while files are looked at, and while DuckDB reads them.
        self._begin(rest)
        hybrid = [s for s in lakes if s.log_offsets]
        tails = read_tails(self._conn, self._request, hybrid) if hybrid else []
        yield from self._scans([f for s in lakes if not s.log_offsets for f in s.files], None)
        yield from self._merge_parts(hybrid, tails)
        yield self._rest(rest)

    def _kept_parts(self, hot: HotRows, lakes: Sequence[LakeSplit], rest: Sequence[Split]) -> Iterator[str]:
        left = [split for split in rest if not isinstance(split, LogSplit)]
        self._begin(left)
        files = [file for split in lakes for file in split.files]
        if hot.gone is None:
            yield from self._scans(files, None)
        else:
            touched, plain = touched_files(hot, files)
            if plain:
                yield self._scan(plain, None)
            if touched:
                self._left_out = hot.gone.leave_out([file.path for file in touched])
                yield self._scan(touched, None, self._left_out.sql)
        yield from (table.name for table in hot.rows)
        if left or not (files or hot.rows):
            yield self._rest(left)

    def _begin(self, splits: Sequence[Split]) -> None:
        tasks = spread([[split] for split in splits], THREADS_MAX)
        self._ahead = ReadAhead([partial(read_splits, self._conn, self._request, task) for task in tasks])

    def _rest(self, splits: Sequence[Split]) -> str:
        assert self._ahead is not None
        return self._register(self._stream(self._ahead) if splits else pa.Table.from_batches([], self._read_schema))

    def _is_scanned(self, split: LakeSplit) -> bool:
        """Whether DuckDB reads the files; not those that have to be merged by key first.

        It would cut off nanoseconds, which only Paimon's files have.
        """
        if split.format not in {"iceberg", "paimon"} or any(file.is_merged for file in split.files):
            return False
        if split.format == "paimon" and any(map(has_nanoseconds, self._read_schema.types)):
            return False
        if any(file.deletes for file in split.files) and not has_places(self._info.schema.names):
            return False
        return all(is_local(f) and not f.equality_deletes for f in split.files)

    def close(self) -> None:
        """Stop reading what nobody has asked for."""
        self._hot = self._left_out = None
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
                is_held = many or tail.may_be_in(Path(local_path(file.path)))
                (held if is_held else left).append(file)
        yield from self._scans(left, None)
        if held:
            yield from self._scans(held, self._register(pa.concat_tables([tail.keys for tail in tails])))
        yield self._register(pa.concat_tables([tail.rows.select(self._schema.names) for tail in tails]))

    def _scans(self, files: Sequence[LakeFile], keys: str | None) -> Iterator[str]:
        plain = [file for file in files if not file.deletes]
        touched = [file for file in files if file.deletes]
        if plain:
            yield self._scan(plain, keys)
        if touched:
            deletes = gone_sql(sorted({d.path for file in touched for d in file.deletes}))
            yield self._scan(touched, keys, f"ANTI JOIN ({deletes}) g ON f.{FILE} = g.file AND f.{POSITION} = g.pos")

    def _scan(self, files: Sequence[LakeFile], keys: str | None, gone: str | None = None) -> str:
        """Files without the rows of these keys, and without those that are gone."""
        paths = [file.path for file in files]
        source = scan_sql(paths)
        there = (_columns_of if len(files) <= _SEEN_FILES_MAX else _columns_of.__wrapped__)(source)
        if gone:
            source = f"{scan_sql(paths, places=True)} f {gone}"
        types = _types_of(self._schema)
        wanted = ", ".join(
            hide_bounds(f"CAST({quote(f.name) if f.name in there else 'NULL'} AS {types[f.name]})", f.type)
            + f" AS {quote(f.name)}"
            for f in self._schema
        )
        if keys is None:
            return f"(SELECT {wanted} FROM {source})"
        names = self._info.schema.primary_key
        same = " AND ".join(f"f.{quote(name)} = k.{quote(name)}" for name in names)
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
        give_rows(self._duck, name, to_duck(rows))
        selected = select_sql(rows.schema, name)
        if not self._is_joined:
            return f"({selected})"
        self._duck.execute(f"CREATE TEMP TABLE {name}_rows AS {selected}")  # it goes with the connection
        self._duck.unregister(name)
        return f"{name}_rows"


def local_paths(plan: Plan) -> list[str]:
    """The files of a plan that DuckDB may read by itself, and those of their deletes."""
    files = {file for split in plan.splits if isinstance(split, LakeSplit) for file in split.files if is_local(file)}
    return sorted({local_path(path) for file in files for path in (file.path, *(d.path for d in file.deletes))})


@lru_cache(maxsize=32)
def _columns_of(source: str) -> frozenset[str]:
    """The columns of files. They are written once, so that what was found of them holds."""
    with duck_cursor() as duck:
        return frozenset(row[0] for row in duck.execute(f"DESCRIBE SELECT * FROM {source}").fetchall())


@lru_cache(maxsize=256)
def _types_of(schema: pa.Schema) -> dict[str, str]:
    """The types of columns, as DuckDB names them."""
    with duck_cursor() as duck:
        give_rows(duck, "empty", pa.Table.from_batches([], schema))
        return {row[0]: row[1] for row in duck.execute("DESCRIBE empty").fetchall()}
