"""What Kafka knows of a message, for many messages at once, in the type that a column has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

#: Kinds of timestamps by librdkafka's number, as Java's clients call them.
_TIMESTAMP_KINDS = ("NoTimestampType", "CreateTime", "LogAppendTime")


def metadata_column(key: str, messages: Sequence[Any], target: pa.DataType) -> pa.Array:
    """One metadata column, cast to the type of the column."""
    if key == "headers":
        return _headers(messages, target)
    found = _MAKE[key](messages)
    if key == "timestamp-type" and pa.types.is_integer(target):
        found = _MAKE["timestampType"](messages)
    return found if found.type == target else _cast(found, target)


def _cast(found: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(found.type) and pa.types.is_timestamp(target) and target.tz is None:
        found = found.cast(pa.timestamp("ms"))  # without a zone, the clock of UTC
    return found.cast(target)


def _offsets(messages: Sequence[Any]) -> pa.Array:
    return pa.array(np.fromiter((m.offset() for m in messages), np.int64, len(messages)))


def _timestamps(messages: Sequence[Any]) -> pa.Array:
    times = np.fromiter((m.timestamp()[1] for m in messages), np.int64, len(messages))
    return pa.array(times, mask=times < 0).cast(pa.timestamp("ms", tz="UTC"))


def _timestamp_kinds(messages: Sequence[Any]) -> pa.Array:
    return pa.array([_TIMESTAMP_KINDS[m.timestamp()[0]] for m in messages], pa.string())


def _timestamp_numbers(messages: Sequence[Any]) -> pa.Array:
    # Java counts from -1: no timestamp, then 0 and 1.
    return pa.array([m.timestamp()[0] - 1 for m in messages], pa.int32())


def _headers(messages: Sequence[Any], target: pa.DataType) -> pa.Array:
    """A map from name to bytes, or as Spark has it a list of names and values, which may come more than once."""
    if pa.types.is_map(target):
        entries: list[Any] = [list(dict(m.headers() or ()).items()) for m in messages]
        return pa.array(entries, pa.map_(pa.string(), pa.binary())).cast(target)
    listed = [None if m.headers() is None else [{"key": k, "value": v} for k, v in m.headers()] for m in messages]
    return pa.array(listed, target)


_MAKE: dict[str, Callable[[Sequence[Any]], pa.Array]] = {
    "key": lambda messages: pa.array([m.key() for m in messages], pa.binary()),
    "value": lambda messages: pa.array([m.value() for m in messages], pa.binary()),
    "topic": lambda messages: pa.array([m.topic() for m in messages], pa.string()),
    "partition": lambda messages: pa.array([m.partition() for m in messages], pa.int32()),
    "leader-epoch": lambda messages: pa.array([m.leader_epoch() for m in messages], pa.int32()),
    "offset": _offsets,
    "timestamp": _timestamps,
    "timestamp-type": _timestamp_kinds,
    "timestampType": _timestamp_numbers,
}
