"""Which server leads which bucket. Pure: the same servers have the same buckets after every start."""

from __future__ import annotations

from lakeward.model.bucket import TableBucket


def server_of(bucket: TableBucket, size: int) -> int:
    """One of the servers 0 … size - 1. The buckets of a table, or of a partition, go round; each begins elsewhere."""
    return ((bucket.partition_id or 0) + bucket.table_id + bucket.bucket) % size
