"""HotRows: what is hot of a table, as tables of DuckDB, made once and added to.

Of a log table these are the rows behind the lake's offsets. Of a primary key table they are the rows that its changes
have led to, the keys that changed, and where the old rows of these keys lie: files and positions that a scan of cold
files leaves out. A state of all this never changes; what came since makes another one beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.client.forms.results import BucketId
from lakeward.lake.port import LakeFile
from lakeward.query.duckdb.duck_tables import DuckTable, TooLargeError, row_bytes, table_bytes
from lakeward.query.duckdb.file_sql import FILE, POSITION, gone_sql, local_path, paths_sql, quote, scan_sql
from lakeward.query.duckdb.gone_rows import GoneRows, no_gone_rows
from lakeward.query.duckdb.read_ahead import THREADS_MAX, ReadAhead
from lakeward.query.plan.plan import spread
from lakeward.query.plan.splits import LakeSplit, LogSplit
from lakeward.query.read.read import read_splits, read_tails, result_schema
from lakeward.query.request.request import ReadRequest

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table
    from lakeward.client.read.log_marks import LogMark

#: Tables that the rows of a log table may be in, before the small ones are made one.
_PIECES_MAX = 4
#: What a place takes on its way: a hash and a number.
_PLACE_BYTES = 16

Window = tuple[int, int]


@dataclass(frozen=True, slots=True)
class HotRows:
    """The hot part of a table between two sets of offsets."""

    columns: tuple[str, ...]
    snapshot_id: int | None
    windows: Mapping[BucketId, Window]
    rows: tuple[DuckTable, ...] = ()
    keys: DuckTable | None = None
    #: Cold rows that are no more; None where it was not looked for any.
    gone: GoneRows | None = None
    #: Cold files that keys were looked for in.
    looked: frozenset[LakeFile] = field(default_factory=frozenset)
    #: The batch before the end of each window, as it was before rows were read.
    marks: Mapping[BucketId, LogMark] = field(default_factory=dict)
    #: Where the logs of all buckets ended, also of those without windows; empty where a plan does not tell.
    ends: Mapping[BucketId, int] = field(default_factory=dict)

    @property
    def tables(self) -> tuple[DuckTable, ...]:
        """All that is held."""
        return tuple(table for table in (*self.rows, self.keys) if table is not None)

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        return sum(table.bytes for table in self.tables) + (0 if self.gone is None else self.gone.bytes)

    def leads_to(self, columns: Iterable[str], snapshot_id: int | None, windows: Mapping[BucketId, Window]) -> bool:
        """Whether what is asked for is this, or this and more. Logs that end earlier than they did are other logs."""
        return (
            set(columns) <= set(self.columns)
            and snapshot_id == self.snapshot_id
            and self.windows.keys() <= windows.keys()
            and all(windows[id_][0] == begin and windows[id_][1] >= stop for id_, (begin, stop) in self.windows.items())
        )

    def is_marked(self, marks: Mapping[BucketId, LogMark]) -> bool:
        """Whether logs with these marks at the ends of the windows are those that the rows came from."""
        return all(id_ in marks and marks[id_] == self.marks.get(id_) for id_ in self.windows)

    def since(self, windows: Mapping[BucketId, Window]) -> dict[BucketId, Window]:
        """What of these windows is missing here."""
        known = {id_: (max(begin, self.windows.get(id_, (0, begin))[1]), end) for id_, (begin, end) in windows.items()}
        return {id_: (begin, end) for id_, (begin, end) in known.items() if end > begin}


class HotLoader:
    """Makes and extends the hot rows of one table, within a bound of memory (TooLargeError)."""

    def __init__(self, conn: Connection, table: Table, request: ReadRequest, bytes_max: int) -> None:
        self._conn = conn
        self._table = table
        self._info = table.info
        self._request = replace(request, filters=())
        self._bytes_max = bytes_max

    def marks(self, windows: Mapping[BucketId, Window]) -> dict[BucketId, LogMark]:
        """What tells the logs of windows from others that may be there later; it needs the right to read them."""
        return self._table.marks({id_: end for id_, (_, end) in windows.items()})

    # -- log tables ---------------------------------------------------------------------------------------------------

    def of_log(self, before: HotRows, windows: Mapping[BucketId, Window]) -> HotRows:
        """The rows of these windows, as Arrow of the log, behind those that are there."""
        splits = [LogSplit(id_.partition, id_.bucket, *window) for id_, window in before.since(windows).items()]
        if not splits:
            return replace(before, windows=windows)
        request = replace(self._request, columns=before.columns)
        tasks = spread([[split] for split in splits], THREADS_MAX)
        ahead = ReadAhead([partial(read_splits, self._conn, request, task) for task in tasks])
        schema = result_schema(self._info.schema, request)
        try:
            made = DuckTable.of_batches(schema, iter(ahead), self._bytes_max - before.bytes)
        finally:
            ahead.close()
        return replace(before, windows=windows, rows=_in_few_pieces((*before.rows, made)))

    # -- primary key tables -------------------------------------------------------------------------------------------

    def of_changes(self, before: HotRows, windows: Mapping[BucketId, Window], splits: Sequence[LakeSplit]) -> HotRows:
        """What the changes of these windows led to, and the positions of what they replace in files."""
        new = before.since(windows)
        found = replace(before, windows=windows)
        if new:
            asked = [replace(s, log_start=new[s.id][0], log_stop=new[s.id][1]) for s in splits if s.id in new]
            room = _Room(self._bytes_max - before.bytes)
            tails = read_tails(self._conn, replace(self._request, columns=before.columns), asked, room.take)
            rows = pa.concat_tables([tail.rows.select(list(before.columns)) for tail in tails])
            found = self._add_changes(found, rows, pa.concat_tables([tail.keys for tail in tails]))
        found = self._look_up(found, [file for split in splits for file in split.files])
        if found.bytes > self._bytes_max:
            raise TooLargeError
        return found

    def _add_changes(self, before: HotRows, rows: pa.Table, keys: pa.Table) -> HotRows:
        now, changed = DuckTable.of_rows(rows), DuckTable.of_rows(keys)
        if before.keys is None:
            return replace(before, rows=(now,), keys=changed, looked=frozenset())
        (old,) = before.rows
        same = self._same("f", "k")
        kept = f"SELECT f.* FROM {old.name} f ANTI JOIN {changed.name} k ON {same}"
        both = DuckTable.of_query(f"{kept} UNION ALL FROM {now.name}", row_bytes((old, now)))
        found = replace(before, rows=(both,))
        known = before.keys
        fresh = DuckTable.of_query(f"FROM {changed.name} f ANTI JOIN {known.name} k ON {same}", row_bytes([changed]))
        if not fresh.rows:  # the places of the others are known
            return found
        all_keys = DuckTable.of_query(f"FROM {known.name} UNION ALL FROM {fresh.name}", row_bytes((known, fresh)))
        return replace(self._with_gone(found, self._lookups(before.looked, fresh)), keys=all_keys)

    def _look_up(self, found: HotRows, files: Sequence[LakeFile]) -> HotRows:
        """The same, with the positions of changed keys in files that were not looked into before."""
        new = [file for file in files if file not in found.looked]
        if not new or found.keys is None:
            return found
        selects = self._lookups(new, found.keys)
        deletes = {d.path: d.rows for file in new for d in file.deletes}
        if found.bytes + sum(deletes.values()) * _PLACE_BYTES > self._bytes_max:
            raise TooLargeError
        if deletes:
            named, ours = gone_sql(sorted(deletes)), paths_sql(file.path for file in new)
            selects.append(f"SELECT hash(file) AS file, pos FROM ({named}) WHERE file IN (SELECT unnest({ours}))")
        return self._with_gone(replace(found, looked=found.looked | set(new)), selects)

    def _lookups(self, files: Iterable[LakeFile], keys: DuckTable) -> list[str]:
        paths = sorted(file.path for file in files)
        if not paths:
            return []
        source, where = scan_sql(paths, places=True), self._same("f", "k")
        return [f"SELECT hash({FILE}) AS file, {POSITION} AS pos FROM {source} f SEMI JOIN {keys.name} k ON {where}"]

    def _with_gone(self, before: HotRows, selects: list[str]) -> HotRows:
        if not selects:
            return before
        known = no_gone_rows(self._info.schema.names) if before.gone is None else before.gone
        return replace(before, gone=known.with_rows(selects, before.looked))

    def _same(self, one: str, other: str) -> str:
        names = map(quote, self._info.schema.primary_key)
        return " AND ".join(f"{one}.{name} = {other}.{name}" for name in names)


class _Room:
    """How much may still come."""

    def __init__(self, bytes_max: int) -> None:
        self._left = bytes_max
        self._lock = Lock()

    def take(self, batch: pa.RecordBatch) -> None:
        """Rows come in, on any thread."""
        with self._lock:
            self._left -= table_bytes(batch)
            if self._left < 0:
                raise TooLargeError


def touched_files(hot: HotRows, files: Sequence[LakeFile]) -> tuple[list[LakeFile], list[LakeFile]]:
    """Files of which rows are gone, and the others."""
    gone = frozenset[str]() if hot.gone is None else hot.gone.files
    touched = [file for file in files if local_path(file.path) in gone]
    return touched, [file for file in files if local_path(file.path) not in gone]


def _in_few_pieces(pieces: tuple[DuckTable, ...]) -> tuple[DuckTable, ...]:
    """The first stays as it is; the small ones that came after it become one when they are many."""
    if len(pieces) <= _PIECES_MAX:
        return pieces
    small = pieces[1:] if sum(piece.bytes for piece in pieces[1:]) < pieces[0].bytes else pieces
    made = DuckTable.of_query(" UNION ALL ".join(f"FROM {p.name}" for p in small), row_bytes(small))
    return (*pieces[: len(pieces) - len(small)], made)
