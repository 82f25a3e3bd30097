"""Tables and groups looked at, one after the other until time is up: there may be thousands."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.client.forms.results import BucketId, PartitionInfo
from lakeward.doctor.facts.tables import GroupFacts, TableFacts
from lakeward.errors import LakewardError, NotFoundError
from lakeward.options.table import LAKE_ENABLED
from lakeward.runtime.clock import Clock

if TYPE_CHECKING:
    from lakeward.client.tables.connection import AsyncConnection
    from lakeward.client.tables.table import AsyncTable

#: Bounds of one look: tables, buckets and partitions of a table, buckets of a table whose oldest row is looked for.
TABLES_MAX = 2000
_PARTITIONS_MAX = 16
_BUCKETS_MAX = 1024
_PEEKS_MAX = 4
_GROUP_TABLES_MAX = 50
_AT_ONCE = 8
#: The share of the time after which no further table is begun.
_SHARE = 0.6


async def look_at_tables(conn: AsyncConnection, clock: Clock, timeout_s: float) -> Mapping[str, Any]:
    """As many as there is time for, spread over all of them."""
    end = clock.monotonic() + timeout_s * _SHARE
    names = [f"{db}.{name}" for db in await conn.databases() for name in await conn.tables(db)]
    left, found = iter(_spread(names, TABLES_MAX)), list[TableFacts]()

    async def look_on() -> None:
        for name in left:
            if clock.monotonic() > end:
                return
            try:
                found.append(await _look_at(conn, await conn.table(name), clock))
            except NotFoundError:
                continue  # dropped meanwhile

    await asyncio.gather(*(look_on() for _ in range(_AT_ONCE)))
    return {"tables": sorted(found, key=lambda table: table.name), "table_count": len(names)}


def _spread(names: Sequence[str], most: int) -> list[str]:
    """At most so many of them, from everywhere."""
    return [names[i * len(names) // most] for i in range(most)] if len(names) > most else list(names)


async def _look_at(conn: AsyncConnection, table: AsyncTable, clock: Clock) -> TableFacts:
    info = table.info
    descriptor = info.descriptor
    partitions = await table.partitions() if descriptor.is_partitioned else []
    facts: dict[str, Any] = {
        "name": str(info.path),
        "table_id": info.table_id,
        "has_key": descriptor.has_primary_key,
        "is_partitioned": descriptor.is_partitioned,
        "bucket_keys": descriptor.bucket_keys,
        "buckets": info.bucket_count,
        "partitions": len(partitions),
        "properties": descriptor.properties,
        "custom": descriptor.custom_properties,
        "created_ms": info.created_ms,
    }
    newest = _newest(partitions, info.bucket_count) if descriptor.is_partitioned else None
    try:
        starts = await table.offsets("earliest", partitions=newest)
        ends = await table.offsets("latest", partitions=newest)
    except LakewardError:
        return TableFacts(**facts)  # without leaders, or while a store fails: what it was told is known all the same
    there = [bucket for bucket in ends if bucket in starts]
    facts["ends"] = [ends[bucket] for bucket in there]
    facts["rows"] = [ends[bucket] - starts[bucket] for bucket in there]
    if LAKE_ENABLED.read(descriptor.properties):
        facts |= await _lake_lag(conn, table, partitions, starts, ends, clock.now_ms())
    return TableFacts(**facts)


def _newest(partitions: Sequence[PartitionInfo], buckets: int) -> list[PartitionInfo]:
    count = min(_PARTITIONS_MAX, max(1, _BUCKETS_MAX // max(buckets, 1)))
    return sorted(partitions, key=lambda partition: partition.id)[-count:]


async def _lake_lag(
    conn: AsyncConnection,
    table: AsyncTable,
    partitions: Iterable[PartitionInfo],
    starts: Mapping[BucketId, int],
    ends: Mapping[BucketId, int],
    now_ms: int,
) -> dict[str, Any]:
    """Rows that the lake lacks, and how long the oldest of them has waited, by the buckets that are most behind."""
    told = await conn.lake.snapshot(table.path)
    names: dict[int | None, str | None] = {None: None, **{p.id: p.name for p in partitions}}
    offsets = {} if told is None else told.offsets
    in_lake = {BucketId(names[b.partition_id], b.bucket): end for b, end in offsets.items() if b.partition_id in names}
    first = {id_: max(in_lake.get(id_, 0), starts.get(id_, 0)) for id_ in ends}
    behind = {id_: end - first[id_] for id_, end in ends.items() if end > first[id_]}
    most = sorted(behind, key=behind.__getitem__, reverse=True)[:_PEEKS_MAX]
    peeked = await asyncio.gather(*(table.peek(id_, first[id_]) for id_ in most), return_exceptions=True)
    times = [one.time_ms for one in peeked if one is not None and not isinstance(one, BaseException)]
    seconds = 0.0 if not behind else max(now_ms - min(times), 0) / 1000 if times else None
    return {"lag_rows": sum(behind.values()), "lag_seconds": seconds}


async def look_at_groups(conn: AsyncConnection, rows: Iterable[Mapping[str, Any]]) -> list[GroupFacts]:
    """How far each group is behind in each of its tables; a table that is gone is left out."""
    by_table: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_table[row["table_name"]].append(row)
    found: list[GroupFacts] = []
    for name in sorted(by_table)[:_GROUP_TABLES_MAX]:
        try:
            table = await conn.table(name)
            starts, ends = await table.offsets("earliest"), await table.offsets("latest")
        except NotFoundError:
            continue
        found += _groups_of(name, table.info.table_id, by_table[name], starts, ends)
    return found


def _groups_of(
    name: str,
    table_id: int,
    rows: Iterable[Mapping[str, Any]],
    starts: Mapping[BucketId, int],
    ends: Mapping[BucketId, int],
) -> list[GroupFacts]:
    of_group: dict[str, dict[BucketId, Mapping[str, Any]]] = defaultdict(dict)
    for row in rows:
        if row["table_id"] == table_id:
            of_group[row["group_id"]][BucketId(row["partition_name"] or None, row["bucket"])] = row
    found = []
    for group, committed in sorted(of_group.items()):
        at = {id_: committed[id_]["next_offset"] if id_ in committed else starts.get(id_, 0) for id_ in ends}
        found.append(
            GroupFacts(
                group,
                name,
                lag_rows=sum(max(0, end - max(at[id_], starts.get(id_, 0))) for id_, end in ends.items()),
                rows=sum(end - starts.get(id_, 0) for id_, end in ends.items()),
                lost_rows=sum(max(0, starts.get(id_, 0) - at[id_]) for id_ in ends),
                committed_ms=max(int(row["committed_at"].timestamp() * 1000) for row in committed.values()),
            )
        )
    return found
