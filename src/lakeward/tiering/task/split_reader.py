"""A split → Arrow batches as the lake takes them: the table's columns, then the system columns. Stateless."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.client.blocking.sync_scan import Scan
from lakeward.client.blocking.sync_table import Table
from lakeward.client.forms.damage import LeftOut
from lakeward.client.forms.results import BucketId
from lakeward.lake.rows.system_columns import CHANGE_FIELD, SYSTEM_FIELDS
from lakeward.tiering.task.splits import LogRange, StateAtOffset

_BEFORE = "-U"
_INSERT = 1
_NUMBER_OF_CHANGE = pa.array(["+A", "+I", "-U", "+U", "-D"])
_OURS = ("_bucket", "_offset", "_timestamp")


def read_log(
    table: Table, split: LogRange, left_out: list[LeftOut], *, aside: bool = False
) -> Iterator[pa.RecordBatch]:
    """The rows of a range of the log; for a primary key table its changes, but for the rows as they were before.

    `left_out` takes what the log does not have any more, and with `aside` the batches that cannot be decoded.
    """
    scan = _scan(table, [split], aside=aside)
    yield from _lake_rows(table, scan)
    left_out.extend(scan.left_out)


def read_logs(
    table: Table, splits: Sequence[LogRange], bytes_max: int, *, aside: bool = False
) -> Iterator[tuple[Iterator[pa.RecordBatch], list[LeftOut]]] | None:
    """The same of ranges of as many buckets, read at once; None where they are more than so many bytes."""
    scan = _scan(table, splits, aside=aside)
    found = scan.by_bucket(bytes_max)
    if found is None:
        return None
    left_out: dict[BucketId, list[LeftOut]] = {}
    for one in scan.left_out:
        left_out.setdefault(one.bucket, []).append(one)
    return ((_lake_rows(table, found.pop(at, ())), left_out.get(at, [])) for at in map(_place, splits))


def _scan(table: Table, splits: Sequence[LogRange], *, aside: bool) -> Scan:
    spans = {_place(s): s for s in splits}
    partitions = sorted({s.partition for s in splits if s.partition is not None}) or None
    buckets = sorted({s.bucket.bucket for s in splits})
    # A scan is of the same buckets of each partition: those that nobody asked for are read from nothing to nothing.
    places = [BucketId(partition, bucket) for partition in (partitions or (None,)) for bucket in buckets]
    return table.scan(
        start={place: spans[place].start if place in spans else 0 for place in places},
        end={place: spans[place].stop if place in spans else 0 for place in places},
        partitions=partitions,
        buckets=buckets,
        metadata_columns=True,
        skip_damaged="batches" if aside else False,
        keep_damaged=True,
    )


def _place(split: LogRange) -> BucketId:
    return BucketId(split.partition, split.bucket.bucket)


def _lake_rows(table: Table, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    keyed = table.info.descriptor.has_primary_key
    for batch in batches:
        rows = batch.filter(pc.not_equal(batch["_change_type"], _BEFORE)) if keyed else batch
        if rows.num_rows:
            yield _with_system_columns(rows, keyed=keyed)


def _with_system_columns(rows: pa.RecordBatch, *, keyed: bool) -> pa.RecordBatch:
    own = [(f, rows.column(i)) for i, f in enumerate(rows.schema) if f.name not in {*_OURS, CHANGE_FIELD.name}]
    system = [(f, rows[name].cast(f.type)) for f, name in zip(SYSTEM_FIELDS, _OURS, strict=True)]
    if keyed:
        numbers = pc.index_in(rows["_change_type"], value_set=_NUMBER_OF_CHANGE).cast(CHANGE_FIELD.type)
        system.append((CHANGE_FIELD, numbers))
    fields, columns = zip(*own, *system, strict=True)
    return pa.RecordBatch.from_arrays(list(columns), schema=pa.schema(fields))


def read_state(table: Table, split: StateAtOffset, now_ms: int) -> Iterator[pa.RecordBatch]:
    """The rows of a bucket as of the split's offset, as changes: inserted by the last change before it."""
    found = table.snapshot_batches(
        partitions=None if split.partition is None else [split.partition],
        buckets=[split.bucket.bucket],
        as_of=split.offset,
    )
    for rows in found:
        yield _as_inserts(rows, split, now_ms)


def _as_inserts(rows: pa.RecordBatch, split: StateAtOffset, now_ms: int) -> pa.RecordBatch:
    count = rows.num_rows
    system = [
        pa.array(np.full(count, split.bucket.bucket, np.int32)),
        pa.array(np.full(count, max(split.offset - 1, 0), np.int64)),
        pa.array(np.full(count, now_ms * 1000, np.int64)).cast(SYSTEM_FIELDS[2].type),
        pa.array(np.full(count, _INSERT, np.int8)),
    ]
    schema = pa.schema([*rows.schema, *SYSTEM_FIELDS, CHANGE_FIELD])
    return pa.RecordBatch.from_arrays([*rows.columns, *system], schema=schema)
