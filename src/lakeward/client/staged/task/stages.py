"""Stages: rows → finished batches, for logs and for changes by key. The writers' own encoders, without a sender."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lakeward.client.forms.data_forms import arrow_of, batches_in, batches_of
from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.lookup.bucket_evidence import BucketEvidence
from lakeward.client.lookup.lookups import Lookups
from lakeward.client.staged.parts.table_access import TableAccess
from lakeward.client.staged.task.change_types import split_by_change
from lakeward.client.upsert.change_batching import ChangeBatching
from lakeward.client.upsert.changes import ChangeEncoder, EncodedChanges, Piece, slices
from lakeward.client.upsert.written_columns import WrittenColumns
from lakeward.client.write.batching import Batching, Destination
from lakeward.client.write.routing import Router
from lakeward.client.write.writer import builder_for
from lakeward.errors import ErrorCode
from lakeward.records.batch.batch_header import NO_SEQUENCE, NO_WRITER

R = TypeVar("R")
G = TypeVar("G")
Routed = list[tuple[Destination, R]]


class FinishedBatch(NamedTuple):
    """A batch that lacks only its sender's name and number."""

    rows: int
    data: memoryview | bytearray


class Stage(Protocol, Generic[R, G]):
    """What happens to rows on their way into a part. `route` and `finish` are called from worker threads."""

    target_columns: tuple[int, ...]

    def pieces(self, data: Any) -> Iterator[Any]:
        """Rows as people hold them, checked, in pieces worth a thread."""
        ...

    def route(self, piece: Any) -> Routed[R]:
        """Where the rows of a piece go."""
        ...

    def gather(self, to: Destination, rows: R) -> Iterator[G]:
        """Take rows; the batches that are full now."""
        ...

    def waiting(self) -> list[Destination]:
        """Destinations for which rows wait."""
        ...

    def close(self, to: Destination) -> G:
        """The rows that wait for this destination, as one batch."""
        ...

    def raw_bytes(self, rows: Any) -> int:
        """How much memory rows take that were routed or gathered."""
        ...

    def finish(self, batch: G) -> FinishedBatch:
        """Encode a batch."""
        ...


def stage_for(access: TableAccess, columns: Iterable[str] | None, change_type_column: str | None) -> Stage[Any, Any]:
    """The stage of a table."""
    if access.info.descriptor.has_primary_key:
        return ChangeStage(access, columns, change_type_column)
    if change_type_column is not None:
        raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(
            f"{access.path} has no primary key, so rows can only be appended to it; leave out the change type column "
            f"'{change_type_column}'."
        )
    return LogStage(access, columns)


class LogStage:
    """Rows of a log table."""

    target_columns: tuple[int, ...] = ()

    def __init__(self, access: TableAccess, columns: Iterable[str] | None) -> None:
        settings = access.cluster.settings
        self._info = access.info
        self._columns = None if columns is None else [access.info.schema.column(name).name for name in columns]
        self._router = Router(
            access.info,
            round_robin=settings.round_robin,
            follow_pyfluss=access.bucketing is Bucketing.PYFLUSS,
        )
        self._batching = Batching(settings.batch_bytes)
        self._builder = builder_for(access.info)

    def pieces(self, data: Any) -> Iterator[pa.RecordBatch]:
        """Rows with the table's columns; of named columns only those, and NULL in the others."""
        if self._columns is None:
            yield from batches_of(data, self._info.schema)
            return
        for rows in arrow_of(data, self._info.schema):
            yield from batches_of(rows.select([n for n in rows.schema.names if n in self._columns]), self._info.schema)

    def route(self, piece: pa.RecordBatch) -> Routed[pa.RecordBatch]:
        """By partition and bucket key; without a key, whoever commits chooses the bucket."""
        return list(self._router.route(piece))

    def gather(self, to: Destination, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Batches of the size that the writer's option says."""
        return self._batching.add(to, rows)

    def waiting(self) -> list[Destination]:
        """Destinations for which rows wait."""
        return self._batching.waiting()

    def close(self, to: Destination) -> pa.RecordBatch:
        """The rows that wait for this destination."""
        return self._batching.close(to)

    def raw_bytes(self, rows: pa.RecordBatch) -> int:
        """As Arrow counts."""
        return int(rows.nbytes)

    def finish(self, batch: pa.RecordBatch) -> FinishedBatch:
        """Lay out and compress."""
        encoded = self._builder.encode(batch)
        return FinishedBatch(batch.num_rows, encoded.seal(self._info.schema_id, NO_WRITER, NO_SEQUENCE))


class _Changes(NamedTuple):
    """Rows to put and keys to delete, in one order; without `is_put` all are put."""

    keys: pa.RecordBatch
    puts: pa.RecordBatch
    is_put: Any


class ChangeStage:
    """Rows to put into a primary key table, and rows to delete where a column says so."""

    def __init__(self, access: TableAccess, columns: Iterable[str] | None, change_type_column: str | None) -> None:
        info, cluster = access.info, access.cluster
        self._info = info
        self._keys = TableKeys(info)
        lookups = Lookups(cluster, info, access.partitions, self._keys)
        evidence = BucketEvidence(cluster, info, access.partitions, self._keys, lookups)
        self._change_type_column = change_type_column
        if columns is not None:
            columns = [name for name in columns if name != change_type_column]
        self._columns = WrittenColumns(info, columns)
        self.target_columns = self._columns.positions
        self._encoder = ChangeEncoder(info, self._keys, access.run(evidence.for_writing()))
        self._batching = ChangeBatching(cluster.settings.batch_bytes)

    def pieces(self, data: Any) -> Iterator[_Changes]:
        """Rows with all columns of the table; of rows to delete only the key is looked at."""
        if self._change_type_column is None:
            for batch in self._columns.batches(data):
                for rows in slices(batch):
                    yield _Changes(rows, rows, None)
            return
        for given in arrow_of(data, self._info.schema):
            for batch in batches_in(given):
                for rows in slices(batch):
                    yield self._changes(rows, self._change_type_column)

    def _changes(self, rows: pa.RecordBatch, column: str) -> _Changes:
        rows, is_put = split_by_change(rows, column)
        where = np.asarray(is_put.to_numpy(zero_copy_only=False), np.bool_)
        if not where.all():
            self._columns.check_delete()
        puts = pa.Table.from_batches(list(self._columns.batches(rows.filter(is_put))), self._columns.arrow)
        (batch,) = puts.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=self._columns.arrow)]
        return _Changes(self._keys.forms.batch(rows), batch, where)

    def route(self, piece: _Changes) -> Routed[Piece]:
        """By partition and bucket key."""
        if piece.is_put is None:
            return self._encoder.upserts(piece.puts)
        return self._encoder.puts_and_deletes(piece.keys, piece.is_put, piece.puts)

    def gather(self, to: Destination, rows: Piece) -> Iterator[list[Piece]]:
        """Batches of the size that the writer's option says."""
        return self._batching.add(to, rows)

    def waiting(self) -> list[Destination]:
        """Destinations for which changes wait."""
        return self._batching.waiting()

    def close(self, to: Destination) -> list[Piece]:
        """The changes that wait for this destination."""
        return self._batching.close(to)

    def raw_bytes(self, rows: Piece | list[Piece] | _Changes) -> int:
        """As they will be sent."""
        if isinstance(rows, _Changes):
            return int(rows.puts.nbytes)
        return rows.bytes if isinstance(rows, Piece) else sum(p.bytes for p in rows)

    def finish(self, batch: list[Piece]) -> FinishedBatch:
        """Join the pieces into one batch."""
        encoded = EncodedChanges(self._info.schema_id, batch)
        return FinishedBatch(
            sum(len(p.which) for p in batch), encoded.seal(self._info.schema_id, NO_WRITER, NO_SEQUENCE)
        )
