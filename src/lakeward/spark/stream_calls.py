"""Calls of streams: offsets, the splits between two of them, lag, and the offsets of consumer groups."""

from __future__ import annotations

from typing import Any

from lakeward.options.spark import AUTO_COMMIT, GROUP_ID
from lakeward.spark.call import Call
from lakeward.spark.read_calls import request_of


def _stream(call: Call) -> Any:
    from lakeward.query.stream import TableStream

    return TableStream(call.conn, request_of(call))


def settings(call: Call) -> dict[str, Any]:
    """What the options say of the stream."""
    read = request_of(call).settings
    commits = GROUP_ID.read(call.options) is not None and AUTO_COMMIT.read(call.options)
    return {"rows": read.rows_max, "bytes": read.bytes_max, "commits": commits}


def initial(call: Call) -> Any:
    """Where the stream begins."""
    return _stream(call).initial().to_json()


def head(call: Call) -> Any:
    """Where the table ends now."""
    stream = _stream(call)
    return stream.latest(stream.initial(), ReadLimit()).to_json()


def latest(call: Call) -> dict[str, Any]:
    """Where the next micro-batch ends, and where the table does."""
    stream = _stream(call)
    start = StreamOffset.of_json(call["start"])
    newest = stream.latest(start, ReadLimit())
    end = stream.latest(start, ReadLimit(call.get("rows"), call.get("bytes")))
    return {"end": end.to_json(), "newest": newest.to_json()}


def plan(call: Call) -> list[list[dict[str, Any]]]:
    """The splits of a micro-batch, one list for each task."""
    found = _stream(call).plan(StreamOffset.of_json(call["start"]), StreamOffset.of_json(call["end"]))
    return [[split.to_json()] for split in found]


def metrics(call: Call) -> dict[str, str]:
    """How far the stream is behind."""
    return {}


def commit(call: Call) -> None:
    """Keep the group's offsets."""
