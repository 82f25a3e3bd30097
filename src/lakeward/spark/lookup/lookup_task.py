"""LookupTask: what a Python worker does for a lookup join. Batches in, the same rows with a table's columns out.

Keys of a batch are counted once each, asked for once each, and only where the cache of this process does not know them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.client.blocking.sync_table import Table
from lakeward.model.schema import Column, Schema
from lakeward.records.arrow.arrow_types import arrow_schema, conform
from lakeward.records.arrow.bucket_kernels import encode_keys
from lakeward.records.key.key_encoding import bucket_key_encoding
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.spark.lookup.lookup_cache import Answers, LookupCache, Matches, Numbers
from lakeward.spark.table.connections import connection
from lakeward.spark.table.one_sentence import one_sentence
from lakeward.spark.table.spark_arrow import spark_arrow_schema, to_spark


@dataclass(frozen=True)
class LookupSpec:
    """What to look up: a value, so that tasks of the same join share one cache."""

    options: tuple[tuple[str, str], ...]
    table: str
    on: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    names: tuple[str, ...]
    by_prefix: bool
    keep_unmatched: bool
    cache_rows: int
    cache_ttl_ms: int

    def __repr__(self) -> str:
        return f"lookup of {self.table}"  # options may hold secrets


def run(spec: LookupSpec, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Join the batches of one task."""
    with one_sentence():
        task = _task_of(spec)
    for batch in batches:
        with one_sentence():
            joined = task.join(batch)
        yield joined


_tasks: dict[tuple[int, LookupSpec], LookupTask] = {}


def _task_of(spec: LookupSpec) -> LookupTask:
    key = (os.getpid(), spec)  # a forked worker has a connection of its own
    if key not in _tasks:
        _tasks[key] = LookupTask(spec, connection(dict(spec.options), expected=True).table(spec.table))
    return _tasks[key]


class LookupTask:
    """Joins batches with one table, and remembers."""

    def __init__(self, spec: LookupSpec, table: Table, clock: Clock | None = None) -> None:
        schema = table.info.schema
        self._spec = spec
        self._table = table
        keys = [schema.column(name) for _, name in spec.on]
        self._keys = Schema(tuple(Column(c.name, c.type.as_nullable(), c.id) for c in keys))
        self._key_schema = arrow_schema(self._keys)
        chosen = schema.select(spec.columns)
        self._chosen = spark_arrow_schema(chosen)
        key_type = self._key_schema.field(0).type if len(keys) == 1 else pa.large_binary()
        renamed = pa.schema([f.with_name(name) for f, name in zip(self._chosen, spec.names, strict=True)])
        self._cache = LookupCache(
            key_type, renamed, rows_max=spec.cache_rows, ttl_ms=spec.cache_ttl_ms, clock=clock or SystemClock()
        )
        self._renamed = renamed

    def join(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch with the columns of their matches."""
        columns = [batch.column(left) for left, _ in self._spec.on]
        keys = conform(pa.RecordBatch.from_arrays(columns, names=list(self._key_schema.names)), self._keys)
        known = _all_present(keys)
        asked = keys if known is None else keys.filter(known)
        coded = self._code_keys(asked).dictionary_encode()
        codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        first = _first_places(codes, len(coded.dictionary))
        found = self._cache.matches(
            coded.dictionary, lambda unknown: self._ask(asked, coded.dictionary, first, unknown)
        )
        of_row = codes if known is None else _spread(codes, known)
        joined = self._join(batch, found, of_row)
        self._cache.trim()
        return joined

    def _code_keys(self, keys: pa.RecordBatch) -> pa.Array:
        """One value for each key: the column itself, or the bytes of several."""
        if keys.num_columns == 1:
            return keys.column(0)
        types = [c.type for c in self._keys.columns]
        data, bounds = encode_keys(list(keys.columns), types, bucket_key_encoding(None))
        buffers = [None, pa.py_buffer(np.ascontiguousarray(bounds, np.int64)), pa.py_buffer(data)]
        return pa.LargeBinaryArray.from_buffers(pa.large_binary(), keys.num_rows, buffers)

    # -- the server ---------------------------------------------------------------------------------------------------

    def _ask(self, keys: pa.RecordBatch, coded: pa.Array, first: Numbers, unknown: Numbers) -> Answers:
        asked = keys.take(pa.array(first[unknown]))
        if self._spec.by_prefix:
            return self._ask_prefixes(asked, coded.take(pa.array(unknown)))
        sign = self._keys.names[0]
        columns = [*self._spec.columns, *([] if sign in self._spec.columns else [sign])]
        rows = _one_batch(self._table.lookup(asked, columns, missing="null"))
        is_there = rows.column(sign).is_valid()
        rows = rows.select(list(self._spec.columns))
        if pc.any(pc.invert(is_there), min_count=0).as_py():
            rows = rows.filter(is_there)
        counts = is_there.to_numpy(zero_copy_only=False).astype(np.int64)
        return Answers(counts, self._as_spark(rows))

    def _ask_prefixes(self, asked: pa.RecordBatch, coded: pa.Array) -> Answers:
        columns = list(dict.fromkeys([*self._spec.columns, *self._keys.names]))
        rows = _one_batch(self._table.lookup_prefix(asked, columns))
        of_rows = self._code_keys(conform(rows.select(list(self._keys.names)), self._keys, self._key_schema))
        places = pc.index_in(of_rows, value_set=coded).to_numpy(zero_copy_only=False).astype(np.int64)
        order = np.argsort(places, kind="stable")
        rows = rows.select(list(self._spec.columns)).take(pa.array(order))
        return Answers(np.bincount(places, minlength=len(coded)).astype(np.int64), self._as_spark(rows))

    def _as_spark(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(to_spark(rows, self._chosen).columns, schema=self._renamed)

    # -- the rows -----------------------------------------------------------------------------------------------------

    def _join(self, batch: pa.RecordBatch, found: Matches, of_row: Numbers) -> pa.RecordBatch:
        has_key = of_row >= 0
        pad = np.append(found.counts, 0)  # row without a key: the last place, which has no match
        counts = pad[np.where(has_key, of_row, len(found.counts))]
        starts = np.append(found.starts, 0)[np.where(has_key, of_row, len(found.counts))]
        shown = np.maximum(counts, 1) if self._spec.keep_unmatched else counts
        if (shown == 1).all():
            right, unmatched = starts, counts == 0
        else:
            batch = batch.take(pa.array(np.repeat(np.arange(len(shown)), shown)))
            within = np.arange(int(shown.sum())) - np.repeat(np.cumsum(shown) - shown, shown)
            right, unmatched = np.repeat(starts, shown) + within, np.repeat(counts == 0, shown)
        rows = found.rows.take(pa.array(right, mask=unmatched if unmatched.any() else None))
        return pa.RecordBatch.from_arrays(
            [*batch.columns, *rows.columns], names=[*batch.schema.names, *self._spec.names]
        )


def _one_batch(rows: pa.Table) -> pa.RecordBatch:
    batches = rows.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=rows.schema)


def _all_present(keys: pa.RecordBatch) -> pa.Array | None:
    """Which rows have a whole key; None where all have. NULL equals nothing."""
    if not any(column.null_count for column in keys.columns):
        return None
    present = keys.column(0).is_valid()
    for column in keys.columns[1:]:
        present = pc.and_(present, column.is_valid())
    return present


def _first_places(codes: Numbers, count: int) -> Numbers:
    first = np.zeros(count, np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first


def _spread(codes: Numbers, known: pa.Array) -> Numbers:
    of_row = np.full(len(known), -1, np.int64)
    of_row[known.to_numpy(zero_copy_only=False)] = codes
    return of_row
