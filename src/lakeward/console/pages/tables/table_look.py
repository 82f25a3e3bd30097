"""TableLook: what the cluster is asked about one table, each answer within bounds; what it does not tell is None."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from lakeward.client.forms.results import BucketId, PartitionInfo
from lakeward.client.tables.table import AsyncTable
from lakeward.console.cluster.metrics_text import MetricsText
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.tables.pieces import Piece, piece_of
from lakeward.errors import LakewardError
from lakeward.model.table import TableInfo

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.admin.lake import ReportedSnapshot

T = TypeVar("T")
_PARTITIONS_SHOWN = 15
_BUCKETS_SHOWN_MAX = 64
#: Rows are counted bucket by bucket: of more than these, nobody waits for it.
_BUCKETS_COUNTED_MAX = 2000
_SAMPLE_ROWS = 10
_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class TableLook:
    """Everything that a table's page is made of."""

    info: TableInfo
    partitions: Piece[PartitionInfo] | None
    #: Whose buckets are shown; empty for a table without partitions.
    chosen: str
    starts: dict[BucketId, int]
    ends: dict[BucketId, int]
    buckets_left_out: int
    rows: int | None
    snapshot: ReportedSnapshot | None
    sample: pa.Table | str
    metrics: MetricsText | None
    remote: dict[str, object] | None


async def look_at(visit: Visit, path: str) -> TableLook:
    """Ask for everything at once; errors of single answers are None, or a sentence."""
    connection = await visit.connection()
    table = await connection.table(path)
    info = table.info
    every = await table.partitions() if info.descriptor.is_partitioned else None
    pieces = (
        None
        if every is None
        else piece_of(every, visit.query("partition"), visit.query("page"), _PARTITIONS_SHOWN, lambda one: one.name)
    )
    chosen = _chosen(visit.query("buckets-of"), pieces)
    bucket_count = info.bucket_count * (1 if every is None else len(every))
    (starts, ends, rows, snapshot), (sample, metrics, remote) = await asyncio.gather(
        asyncio.gather(
            _or_none(_offsets(table, "earliest", chosen)),
            _or_none(_offsets(table, "latest", chosen)),
            _or_none(table.count()) if bucket_count <= _BUCKETS_COUNTED_MAX else _nothing(),
            _or_none(connection.lake.snapshot(info.path)),
        ),
        asyncio.gather(_sample(table), visit.reports.metrics(), visit.reports.remote()),
    )
    ends = ends or {}
    shown = list(ends)[:_BUCKETS_SHOWN_MAX]
    return TableLook(
        info=info,
        partitions=pieces,
        chosen=chosen,
        starts={id_: start for id_, start in (starts or {}).items() if id_ in shown},
        ends={id_: ends[id_] for id_ in shown},
        buckets_left_out=len(ends) - len(shown),
        rows=rows,
        snapshot=snapshot,
        sample=sample,
        metrics=metrics,
        remote=remote,
    )


def _chosen(wanted: str, pieces: Piece[PartitionInfo] | None) -> str:
    """The partition whose buckets are shown: the one that was asked for, or the first of the page."""
    if pieces is None or not pieces.rows:
        return ""
    return next((one.name for one in pieces.rows if one.name == wanted), pieces.rows[0].name)


async def _offsets(table: AsyncTable, at: str, chosen: str) -> dict[BucketId, int]:
    if table.info.descriptor.is_partitioned:
        return await table.offsets(at, partitions=[chosen]) if chosen else {}
    return await table.offsets(at)


async def _sample(table: AsyncTable) -> pa.Table | str:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await table.head(_SAMPLE_ROWS)
    except LakewardError as wrong:
        return wrong.message
    except TimeoutError:
        return "The rows did not come in time."


async def _or_none(answer: Awaitable[T]) -> T | None:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await answer
    except (LakewardError, TimeoutError):
        return None


async def _nothing() -> None:
    return None
