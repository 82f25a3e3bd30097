"""DuckTable: rows as a table of this process's DuckDB, which is there as long as somebody holds it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from weakref import finalize

import pyarrow as pa

from lakeward.query.duckdb.duck_session import KEPT_DATABASE, duck_cursor, give_rows
from lakeward.query.duckdb.duck_types import select_sql, to_duck

_numbers = count()
#: Of a text or a list, beside what it holds and the offset that Arrow has for it.
_POINTER_BYTES = 12


class TooLargeError(Exception):
    """More rows than may be kept."""


class DuckTable:
    """A table that nobody changes; `name` is what stands in a FROM."""

    def __init__(self, name: str, rows: int, bytes_: int) -> None:
        self.name = name
        self.rows = rows
        self.bytes = bytes_
        self._drop = finalize(self, _drop, name, os.getpid())
        self._drop.atexit = False

    @classmethod
    def of_rows(cls, rows: pa.Table) -> DuckTable:
        """A table of Arrow rows."""
        return cls._load(rows, [table_bytes(rows)])

    @classmethod
    def of_batches(cls, schema: pa.Schema, batches: Iterator[pa.RecordBatch], bytes_max: int) -> DuckTable:
        """A table of rows as they come; what goes wrong with them is raised as it is, TooLargeError included."""
        seen, failed = [0], list[Exception]()

        def count_bytes() -> Iterator[pa.RecordBatch]:
            try:
                for batch in batches:
                    seen[0] += table_bytes(batch)
                    if seen[0] > bytes_max:
                        raise TooLargeError
                    yield batch
            except Exception as wrong:
                failed.append(wrong)
                raise

        try:
            return cls._load(pa.RecordBatchReader.from_batches(schema, count_bytes()), seen)
        except Exception as wrong:
            raise (failed[0] if failed else wrong) from wrong

    @classmethod
    def of_query(cls, sql: str, row_bytes: float) -> DuckTable:
        """A table of what a SELECT finds, of which a row takes about so many bytes."""
        name = _new_name()
        with duck_cursor() as duck:
            (rows,) = duck.execute(f"CREATE TABLE {name} AS {sql}").fetchone()
        return cls(name, rows, round(rows * row_bytes))

    @classmethod
    def _load(cls, rows: pa.Table | pa.RecordBatchReader, bytes_: list[int]) -> DuckTable:
        name = _new_name()
        with duck_cursor() as duck:
            give_rows(duck, "_given", to_duck(rows))
            (count_,) = duck.execute(f"CREATE TABLE {name} AS {select_sql(rows.schema, '_given')}").fetchone()
        return cls(name, count_, bytes_[0])

    def column(self, sql: str) -> list[object]:
        """The values of the first column of a SELECT over `{}`."""
        return values_of(sql.format(self.name))


def values_of(sql: str) -> list[object]:
    """The values of the first column of a SELECT."""
    with duck_cursor() as duck:
        return [row[0] for row in duck.execute(sql).fetchall()]


def row_bytes(tables: Sequence[DuckTable]) -> float:
    """What a row of these takes on average."""
    return sum(table.bytes for table in tables) / max(sum(table.rows for table in tables), 1)


def table_bytes(rows: pa.Table | pa.RecordBatch) -> int:
    """What Arrow rows take as a table of DuckDB, at most about: where it has no bits, and 16 bytes for each text."""
    more = sum(_more_bytes(field.type) for field in rows.schema)
    found: int = rows.nbytes + rows.num_rows * more
    return found


def _more_bytes(kind: pa.DataType) -> int:
    if pa.types.is_boolean(kind):
        return 1
    is_fixed = pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)
    return 0 if is_fixed else _POINTER_BYTES


def _new_name() -> str:
    return f"{KEPT_DATABASE}.main.kept_{next(_numbers)}"


def _drop(name: str, process: int) -> None:
    import duckdb

    if os.getpid() == process:  # a fork does not have it
        with suppress(duckdb.Error), duck_cursor() as duck:
            duck.execute(f"DROP TABLE IF EXISTS {name}")
