"""A table's lake, handed over: the target is told which snapshot there is and how far it reaches; no file is touched.

That is sound only where a row has the same offset on both sides: what the lake has up to an offset, the target's log
then has from there on. Tiering goes on at the target and ends at the source, since a lake table has one writer.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.client.admin.lake import KEEP_ALL
from lakeward.client.forms.results import BucketId
from lakeward.client.tables.connection import AsyncConnection
from lakeward.client.tables.table import AsyncTable
from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.moving.report import TableReport
from lakeward.moving.twin import LAKE_PLACE, Twins
from lakeward.options.table import LAKE_ENABLED


async def hand_over(
    source: AsyncConnection,
    target: AsyncConnection,
    twins: Twins,
    positions: Mapping[BucketId, int],
    report: TableReport,
) -> None:
    """Let the target go on with the lake of a table that is the same on both sides, if it has one."""
    if not LAKE_ENABLED.read(twins.source.info.descriptor.properties):
        return
    path = twins.source.path
    if not report.same_offsets:
        report.note(
            "its lake is not handed over, because changes have other offsets in the target: table.datalake.enabled is "
            "false there. To tier it again, move or drop its table in the lake first, and set the property"
        )
        return
    await source.alter_table(path, set={LAKE_ENABLED.key: "false"})
    try:
        await target.alter_table(path, set={LAKE_ENABLED.key: "true"})
    except LakewardError as wrong:  # Apache Fluss 0.9.1 takes over no lake table that exists
        await source.alter_table(path, set={LAKE_ENABLED.key: "true"})
        report.note(f"its lake stays with the source: the target does not take it over ({wrong.message.rstrip('.')})")
        return
    told = await source.lake.snapshot(path)
    if told is not None:
        offsets = await _translate(twins, told.offsets)
        ahead = [id_ for id_, (_, offset) in offsets.items() if offset > positions.get(id_, 0)]
        if ahead:
            await target.alter_table(path, set={LAKE_ENABLED.key: "false"})
            await source.alter_table(path, set={LAKE_ENABLED.key: "true"})
            report.note(f"its lake stays with the source: it is further than the target in bucket {ahead[0]}")
            return
        by_bucket = dict(offsets.values())
        info = twins.target.info
        document = await target.lake.prepare(path, info.table_id, by_bucket)
        await target.lake.commit(
            info.table_id,
            told.snapshot_id,
            document,
            readable_path=document,
            keep_from=KEEP_ALL,
            new_offsets=by_bucket,
        )
        place = {k: v for k, v in twins.source.info.descriptor.custom_properties.items() if k in LAKE_PLACE}
        await target.alter_table(path, set=place)
        report.lake = f"snapshot {told.snapshot_id}"
    report.note("its lake is the target's now: tiering has ended at the source (table.datalake.enabled is false there)")


async def _translate(twins: Twins, offsets: Mapping[TableBucket, int]) -> dict[BucketId, tuple[TableBucket, int]]:
    """The same offsets by the target's numbers of table and partitions; partitions that are gone are left out."""
    names = {number: name for name, number in (await _partitions(twins.source)).items()}
    numbers = await _partitions(twins.target)
    found = {}
    for bucket, offset in offsets.items():
        name = None if bucket.partition_id is None else names.get(bucket.partition_id)
        if bucket.partition_id is None or name in numbers:
            number = None if name is None else numbers[name]
            there = TableBucket(twins.target.info.table_id, number, bucket.bucket)
            found[BucketId(name, bucket.bucket)] = (there, offset)
    return found


async def _partitions(table: AsyncTable) -> dict[str, int]:
    if not table.info.descriptor.is_partitioned:
        return {}
    return {partition.name: partition.id for partition in await table.partitions()}
