"""How far the lake is behind a table: in rows, and in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.client.forms.results import BucketId
from lakeward.model.bucket import TableBucket


@dataclass(frozen=True, slots=True)
class Lag:
    """Rows (changes, of a primary key table) that the lake lacks, and for how long the oldest of them has waited."""

    rows: int
    seconds: float | None
    snapshot_id: int | None


def lag_of(conn: Connection, table: Table, now_ms: int) -> Lag:
    """How far the lake is behind, by what the server was told. Without time where a remote store fails."""
    told = conn.lake.snapshot(table.path)
    starts, ends = table.offsets("earliest"), table.offsets("latest")
    in_lake = {} if told is None else _by_id(table, told.offsets)
    first = {id_: max(in_lake.get(id_, 0), starts.get(id_, 0)) for id_ in ends}
    behind = {id_: end - first[id_] for id_, end in ends.items() if end > first[id_]}
    oldest = [peeked.time_ms for id_ in behind if (peeked := table.peek(id_, first[id_])) is not None]
    seconds = 0.0 if not behind else max(now_ms - min(oldest), 0) / 1000 if oldest else None
    return Lag(sum(behind.values()), seconds, None if told is None else told.snapshot_id)


def _by_id(table: Table, offsets: Mapping[TableBucket, int]) -> dict[BucketId, int]:
    names: dict[int | None, str | None] = {None: None}
    if table.info.descriptor.is_partitioned:
        names |= {p.id: p.name for p in table.partitions()}
    return {BucketId(names[b.partition_id], b.bucket): end for b, end in offsets.items() if b.partition_id in names}
