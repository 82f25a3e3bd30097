"""How far each bucket's log is in the lake: the document that Apache Fluss keeps beside a lake snapshot.

{"version":1,"table_id":7,"bucket_offsets":[100,-1,300]}                                      −1: nothing known
{"version":1,"table_id":7,"partition_offsets":[{"partition_id":3,"bucket_offsets":[10,20]}]}
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket

_VERSION = 1
_UNKNOWN = -1


def offsets_to_json(table_id: int, offsets: Mapping[TableBucket, int], *, partitioned: bool | None = None) -> str:
    """The document of a table's buckets, all of them in partitions or none; the place in a list is the bucket.

    `partitioned` says it where there may be no offset yet to show it.
    """
    partitions: dict[int | None, dict[int, int]] = defaultdict(dict)
    for bucket, offset in offsets.items():
        partitions[bucket.partition_id][bucket.bucket] = offset
    if partitioned is None:
        partitioned = bool(partitions) and None not in partitions
    document: dict[str, Any] = {"version": _VERSION, "table_id": table_id}
    if partitioned:
        document["partition_offsets"] = [
            {"partition_id": number, "bucket_offsets": _offset_list(partitions[number])}
            for number in sorted(p for p in partitions if p is not None)
        ]
    else:
        document["bucket_offsets"] = _offset_list(partitions.get(None, {}))
    return json.dumps(document, separators=(",", ":"))


def offsets_of_json(text: str | bytes) -> dict[TableBucket, int]:
    """The buckets of a document whose offset is known."""
    return table_offsets_of_json(text)[1]


def table_offsets_of_json(text: str | bytes) -> tuple[int, dict[TableBucket, int]]:
    """The table that a document is about, and its buckets whose offset is known."""
    try:
        document = json.loads(text)
        table_id = int(document["table_id"])
        if document["version"] != _VERSION:
            raise ValueError(f"version {document['version']}")
        found = _buckets(table_id, None, document.get("bucket_offsets", ()))
        for partition in document.get("partition_offsets", ()):
            found |= _buckets(table_id, int(partition["partition_id"]), partition["bucket_offsets"])
    except (ValueError, KeyError, TypeError) as wrong:
        raise ErrorCode.CORRUPT_RECORD.error(f"This is no document of lake offsets: {wrong!r}") from wrong
    return table_id, found


def _offset_list(by_bucket: Mapping[int, int]) -> list[int]:
    return [by_bucket.get(number, _UNKNOWN) for number in range(max(by_bucket, default=-1) + 1)]


def _buckets(table_id: int, partition_id: int | None, offsets: Sequence[int]) -> dict[TableBucket, int]:
    return {
        TableBucket(table_id, partition_id, number): int(offset)
        for number, offset in enumerate(offsets)
        if int(offset) >= 0
    }
