"""lakeward skip: readers that remember where they are go past rows that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakeward.cli.input.failures import Failure
from lakeward.cli.input.parameters import TableName, confirm
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, say
from lakeward.options.table import LAKE_ENABLED
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table
    from lakeward.client.forms.damage import LeftOut
    from lakeward.client.forms.results import BucketId


@click.command()
@click.argument("table", type=TableName())
@click.argument("bucket", type=click.IntRange(min=0))
@click.argument("offset", type=click.IntRange(min=0))
@click.option("--partition", metavar="NAME", help="The bucket's partition, in a partitioned table.")
@click.option("--group", metavar="NAME", help="Move this consumer group; without it, tiering is told.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@on_server
def skip(
    session: Session, table: str, bucket: int, offset: int, partition: str | None, group: str | None, yes: bool
) -> None:
    """Have tiering or a consumer group go past rows that cannot be read; the error of the read names the place.

    The log is left as it is. What is passed over is found by reading on from OFFSET: rows that can be read are never
    skipped. One-off reads have an option instead: `tail --skip-damaged`, `sql --skip-damaged`, scan(skip_damaged=True).

    \b
    Examples:
      lakeward skip shop.orders 0 1200
      lakeward skip shop.orders 0 1200 --group billing
    """
    from lakeward.client.forms.results import BucketId

    with session.connect() as connection:
        opened = connection.table(table)
        place = BucketId(partition, bucket)
        found = _unreadable(opened, place, offset)
        for one in found:
            say(f"{opened.path}, {one}.")
        stop = found[-1].stop
        rows = count(stop - offset, "row")
        if group is None:
            _check_tiered(opened)
            confirm(f"Leave {rows} of {opened.path} out of the lake?", yes)
            _tell_tiering(connection, opened, place, offset, stop)
            say(f"The next round of {opened.path} goes on at offset {stop} of bucket {place}.")
        else:
            confirm(f"Have group {group} pass over {rows} of {opened.path}?", yes)
            _move_group(connection, opened, place, offset, stop, group)
            say(f"Group {group} goes on at offset {stop} of bucket {place} when its readers start again.")


def _unreadable(table: Table, place: BucketId, offset: int) -> list[LeftOut]:
    """What cannot be read from an offset on, without a gap; an error when it can be."""
    partitions = None if place.partition is None else [place.partition]
    scan = table.scan(start={place: offset}, partitions=partitions, buckets=[place.bucket], limit=1, skip_damaged=True)
    scan.to_arrow()
    found: list[LeftOut] = []
    for one in sorted(scan.left_out, key=lambda one: one.start):
        if one.start == (found[-1].stop if found else offset):
            found.append(one)
    if not found:
        raise Failure(
            f"{table.path}, bucket {place}: offset {offset} can be read, so nothing is skipped. The error of the read "
            "that fails names the offset."
        )
    return found


def _check_tiered(table: Table) -> None:

    if not LAKE_ENABLED.read(table.info.descriptor.properties):
        raise Failure(f"{table.path} is not tiered; name a consumer group with --group.")


def _tell_tiering(connection: Connection, table: Table, place: BucketId, start: int, stop: int) -> None:
    from lakeward.options.tiering import REQUESTED_MS, SKIP_DAMAGED
    from lakeward.tiering.round.damaged_buckets import PassedRange

    known = SKIP_DAMAGED.read(table.info.descriptor.custom_properties)
    one = str(PassedRange(place.partition, place.bucket, start, stop))
    ranges = one if not known else f"{known},{one}"
    asked = {SKIP_DAMAGED.key: ranges, REQUESTED_MS.key: str(SystemClock().now_ms())}
    connection.alter_table(str(table.path), set=asked)


def _move_group(connection: Connection, table: Table, place: BucketId, start: int, stop: int, group: str) -> None:
    from lakeward.client.blocking.groups import ConsumerGroups

    groups = ConsumerGroups(connection)
    at = groups.committed(group, table.path).get(place)
    if at is None or not start <= at < stop:
        where = "nowhere yet" if at is None else f"at offset {at}"
        raise Failure(
            f"Group {group} is {where} in bucket {place} of {table.path}, not at offsets {start} to {stop - 1}; it is "
            f"not moved. `lakeward groups reset {group} {table.path} --to-offset {stop} --bucket {place.bucket}` moves "
            "it from wherever it is."
        )
    groups.commit(group, table.path, {place: stop})
