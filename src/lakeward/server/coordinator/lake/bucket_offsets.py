"""The document of offsets of a lake snapshot, as Apache Fluss writes it: bucket → end of what is in the lake."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lakeward.model.bucket import TableBucket

VERSION = 1
#: In the place of a bucket of which nothing is known.
UNKNOWN = -1

BucketOffsets = Mapping[TableBucket, int]


def offsets_to_json(table_id: int, offsets: BucketOffsets, *, partitioned: bool) -> bytes:
    """The document; the place in an array is the bucket."""
    node: dict[str, Any] = {"version": VERSION, "table_id": table_id}
    if partitioned:
        partitions = sorted({bucket.partition_id for bucket in offsets if bucket.partition_id is not None})
        node["partition_offsets"] = [
            {"partition_id": partition_id, "bucket_offsets": _array(offsets, partition_id)}
            for partition_id in partitions
        ]
    else:
        node["bucket_offsets"] = _array(offsets, None)
    return json.dumps(node, separators=(",", ":")).encode()


def offsets_of_json(data: bytes, table_id: int) -> dict[TableBucket, int]:
    """The known offsets in a document; ValueError when it is not one, or another table's."""
    node = json.loads(data)
    if not isinstance(node, dict) or node.get("version") != VERSION:
        raise ValueError("it is not a document of offsets")
    if node.get("table_id") != table_id:
        raise ValueError(f"it belongs to table {node.get('table_id')}")
    found: dict[TableBucket, int] = {}
    try:
        for bucket, offset in enumerate(node.get("bucket_offsets", ())):
            found[TableBucket(table_id, None, bucket)] = int(offset)
        for part in node.get("partition_offsets", ()):
            for bucket, offset in enumerate(part["bucket_offsets"]):
                found[TableBucket(table_id, int(part["partition_id"]), bucket)] = int(offset)
    except (KeyError, TypeError) as wrong:
        raise ValueError(f"it is not a document of offsets: {wrong}") from wrong
    return {bucket: offset for bucket, offset in found.items() if offset >= 0}


def _array(offsets: BucketOffsets, partition_id: int | None) -> list[int]:
    known = {bucket.bucket: offset for bucket, offset in offsets.items() if bucket.partition_id == partition_id}
    return [known.get(bucket, UNKNOWN) for bucket in range(max(known, default=-1) + 1)]
