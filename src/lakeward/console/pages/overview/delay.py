"""The delay of a row: from the moment that the server put it into its log to the moment that a reader has it.

It is measured, not derived: the console waits at the end of the busiest table as any reader would, takes the next row,
and compares the time that the server stamped on it with its own clock. The two clocks should agree.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import LakewardError
from lakeward.runtime.clock import Clock

_PATIENCE_S = 2.0
_BUCKETS_MAX = 16


async def measure_delay(connection: AsyncConnection, table: str, clock: Clock) -> float | None:
    """Seconds from log to reader of the next row; None if none comes soon, or may be read."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await _next_delay(connection, table, clock)
    except (LakewardError, TimeoutError):
        return None


async def _next_delay(connection: AsyncConnection, path: str, clock: Clock) -> float | None:
    table = await connection.table(path)
    last = (await table.partitions())[-1:] if table.info.descriptor.is_partitioned else None
    scan = table.scan(
        table.info.schema.names[:1],
        start="latest",
        end=None,
        limit=1,
        partitions=None if last is None else [partition.name for partition in last],
        buckets=range(min(table.info.bucket_count, _BUCKETS_MAX)),
        metadata_columns=True,
    )
    async with aclosing(scan.follow()) as batches:
        async for batch in batches:
            stamped_ms = batch.column("_timestamp").cast("int64")[0].as_py()
            return max(clock.now_ms() - int(stamped_ms), 0) / 1000
    return None
