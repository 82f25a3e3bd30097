"""Calls of streams: offsets, the splits between two of them, lag, and the offsets of consumer groups."""

from __future__ import annotations

import json
from typing import Any

from lakeward.client.forms.new_columns import NewColumns
from lakeward.options.spark import AUTO_COMMIT, GROUP_ID, MAX_BYTES, MAX_ROWS
from lakeward.query.request.request import ReadRequest
from lakeward.query.stream.admission import ReadLimit
from lakeward.query.stream.stream import TableStream
from lakeward.query.stream.stream_offset import StreamOffset
from lakeward.runtime.clock import SystemClock
from lakeward.spark.read.read_calls import request_of
from lakeward.spark.socket.call import Call

_NOT_SHOWN = "This stream does not show it: stop the query and start it again from the same checkpoint to read it."
_NEW_COLUMNS = NewColumns()


def settings(call: Call) -> dict[str, Any]:
    """What the options say of the stream: rows and bytes of a micro-batch, and whether a group is told."""
    request = request_of(call)
    _NEW_COLUMNS.begin(_name_of(request), call.conn.table(str(request.path)).info.schema.names)
    return {
        "rows": MAX_ROWS.read(call.options),
        "bytes": MAX_BYTES.read(call.options),
        "commits": GROUP_ID.read(call.options) is not None and AUTO_COMMIT.read(call.options),
    }


def initial(call: Call) -> dict[str, Any]:
    """Where a stream without a checkpoint begins."""
    return _stream(call).initial().to_json()


def head(call: Call) -> dict[str, Any]:
    """Where the table ends now."""
    stream = _stream(call)
    return stream.latest(stream.initial()).to_json()


def latest(call: Call) -> dict[str, Any]:
    """Where the next micro-batch ends, and where the table does."""
    request = request_of(call)
    names = call.conn.table(str(request.path)).info.schema.names
    _NEW_COLUMNS.look(_name_of(request), request.path, names, request.columns or (), _NOT_SHOWN)
    stream = TableStream(call.conn, request)
    start = StreamOffset.of_json(call["start"])
    within = StreamOffset.of_json(call["until"]) if call.get("until") else None
    limit = ReadLimit(call.get("rows"), call.get("bytes"))
    newest = stream.latest(start, within=within)
    is_limited = limit != ReadLimit()
    end = stream.latest(start, limit, within=within) if is_limited else newest
    return {"end": end.to_json(), "newest": newest.to_json()}


def plan(call: Call) -> list[list[dict[str, Any]]]:
    """The splits of a micro-batch, one list for each task."""
    stream, request = _stream(call), request_of(call)
    planned = stream.plan(StreamOffset.of_json(call["start"]), StreamOffset.of_json(call["end"]))
    return [[split.to_json() for split in task] for task in planned.tasks(request.parallelism)]


def metrics(call: Call) -> dict[str, str]:
    """How far the stream is behind."""
    found = _stream(call).progress(StreamOffset.of_json(call["offset"]))
    return dict(found.metrics(SystemClock().now_ms()))


def commit(call: Call) -> None:
    """Tell the consumer group that everything before an offset was read."""
    _stream(call).commit(StreamOffset.of_json(call["offset"]))


def _name_of(request: ReadRequest) -> str:
    return json.dumps(request.to_json(), sort_keys=True)


def _stream(call: Call) -> TableStream:
    return TableStream(call.conn, request_of(call))
