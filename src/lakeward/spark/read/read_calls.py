"""Calls of reads: plans, and the rows of splits as Arrow frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from lakeward.query.plan.log_bytes import with_log_bytes
from lakeward.query.plan.plan import Summary
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import split_of_json
from lakeward.query.read.read import read_splits
from lakeward.query.request import filters
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import view_schema
from lakeward.spark.socket.call import Call
from lakeward.spark.socket.frames import ARROW
from lakeward.spark.table.spark_arrow import spark_arrow_schema, to_spark

#: A task for less is not worth its start.
_TASK_OFFSETS = 1_000_000
_TASKS_PER_CORE_MAX = 4
#: Batches smaller than this are put together, larger ones than that are cut.
_GATHERED_ROWS, _GATHERED_BYTES = 16_384, 2 << 20
_SENT_BYTES_MAX = 256 << 20
#: What the JVM works on while it is in the cores' caches.
_SENT_ROWS_MAX = 32_768


def request_of(call: Call) -> ReadRequest:
    """What the JVM wants to read."""
    return ReadRequest.of_name(
        call["table"],
        columns=tuple(call["columns"]),
        filters=tuple(filters.of_json(f) for f in call.get("filters") or ()),
        limit=call.get("limit"),
        options=call.options,
        parallelism=call.get("parallelism") or 1,
    )


def plan(call: Call) -> dict[str, Any]:
    """Splits for tasks, and what EXPLAIN shows."""
    request = request_of(call)
    planned = with_log_bytes(call.conn.table(str(request.path)), plan_read(call.conn, request))
    offsets = planned.summary.offsets
    most = min(max(request.parallelism, offsets // _TASK_OFFSETS), _TASKS_PER_CORE_MAX * request.parallelism)
    tasks = planned.tasks(most)
    rows = offsets if request.limit is None else min(offsets, request.limit)
    return {
        "splits": [[split.to_json() for split in task] for task in tasks],
        "description": planned.describe(),
        "rows": rows,
        "bytes": _stored_bytes(planned.summary),
    }


def _stored_bytes(planned: Summary) -> int | None:
    """What files and logs hold with all their columns; None where it is not known."""
    if planned.is_state or planned.log_bytes is None:
        return None
    return planned.log_bytes + (0 if planned.lake is None else planned.lake.bytes)


def read(call: Call) -> None:
    """Send the rows of a task's splits: the schema, then batches; only counts where no columns are asked for."""
    request = request_of(call)
    info = call.conn.table(str(request.path)).info
    target = spark_arrow_schema(view_schema(info.schema, request.view).select(call["columns"]))
    if target.names:
        call.frames.send(ARROW, target.serialize())
    rows = read_splits(call.conn, request, [split_of_json(split) for split in call["split"]], judges_rows=True)
    for batch in gather(to_spark(batch, target) for batch in rows):
        if call.frames.is_cancelled():
            return
        _send(call, batch)


def _send(call: Call, batch: pa.RecordBatch) -> None:
    if not batch.num_columns:
        call.frames.send_count(batch.num_rows)
    elif batch.num_rows > _SENT_ROWS_MAX:
        for first in range(0, batch.num_rows, _SENT_ROWS_MAX):
            _send(call, batch.slice(first, _SENT_ROWS_MAX))
    elif batch.nbytes <= _SENT_BYTES_MAX or batch.num_rows == 1:
        call.frames.send(ARROW, batch.serialize())
    else:
        middle = batch.num_rows // 2
        _send(call, batch.slice(0, middle))
        _send(call, batch.slice(middle))


def gather(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in fewer batches: a small batch costs the JVM as much as a large one."""
    small: list[pa.RecordBatch] = []
    rows, size = 0, 0
    for batch in batches:
        if not batch.num_columns:
            yield batch
            continue
        if not batch.num_rows:
            continue
        small.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _GATHERED_ROWS or size >= _GATHERED_BYTES:
            yield pa.concat_batches(small) if len(small) > 1 else batch
            small, rows, size = [], 0, 0
    if small:
        yield pa.concat_batches(small)
