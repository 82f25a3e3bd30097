"""lakeward repair: give up a damaged range of a log, on purpose and for ever."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.commands.server.verify import check_table, data_dir_option
from lakeward.cli.input.failures import Failure
from lakeward.cli.output.listing import say
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.disk.directories import DataDirectory

if TYPE_CHECKING:
    from lakeward.runtime.files.port import Files
    from lakeward.storage.stored_logs import StoredBucket
    from lakeward.storage.verify import BucketReport


@click.command()
@click.argument("table")
@click.argument("bucket", type=int)
@click.argument("first", type=int)
@click.argument("end", type=int)
@click.option("--partition", metavar="NAME", help="The partition, where the table has any.")
@data_dir_option
def repair(table: str, bucket: int, first: int, end: int, partition: str | None, data_dir: Path) -> None:
    """Give up the damaged offsets FIRST up to, not including, END of a table's bucket.

    The server must be stopped. The range must be one that `lakeward verify` told of; nothing that can be read is ever
    given up. In its place stands a batch without rows: readers, tiering and copies go on after it. That it was given
    up is recorded for ever beside the log, and told by the server's log, its metrics and `lakeward verify`. The damaged
    file is kept beside the new one.

    The rows by key of a table with a primary key are made from what is left: the newest good snapshot and the changes
    since; keys whose last change was in the range have their earlier value.

    \b
    Examples:
      lakeward verify --data-dir /var/lib/lakeward
      lakeward repair shop.orders 0 1200 2400 --data-dir /var/lib/lakeward
    """
    from lakeward.storage.log.repair import give_up, record
    from lakeward.storage.verify import verify_bucket

    check_table(data_dir, table)
    disk = LocalFiles()
    with DataDirectory(disk, data_dir) as held:
        stored = _bucket(disk, held.root, table, bucket, partition)
        report = verify_bucket(disk, stored)
        now_ms = SystemClock().now_ms()
        if report.state is not None and (report.state.first, report.state.end) == (first, end):
            record(disk, stored.log, report.state, now_ms)
            say(f"Given up: the state of {stored.name} before offset {end}. Rows are made from the log from there.")
            return
        damage = next((one for one in report.log.damages if (one.first, one.end) == (first, end)), None)
        if damage is None:
            raise Failure(_no_damage_text(report, first, end))
        kept = give_up(disk, stored.log, damage, now_ms)
    say(f"Given up: offsets {first} to {end - 1} of {stored.name}. Readers go on at offset {end}.")
    if kept is not None:
        say(f"The damaged file is kept as {kept}; delete it when nobody needs it any more.")
    if disk.exists(stored.kv):
        say("Rows by key are made from what is left: keys last changed in the range have their earlier value.")


def _bucket(disk: Files, root: Path, table: str, bucket: int, partition: str | None) -> StoredBucket:
    from lakeward.storage.stored_logs import stored_buckets

    wanted = (table, bucket, partition)
    found = [one for one in stored_buckets(disk, root) if (one.table, one.bucket, one.partition) == wanted]
    if not found:
        raise Failure(f"{root} has no bucket {bucket} of {table}" + (f", partition {partition}." if partition else "."))
    return max(found, key=lambda one: one.table_id)


def _no_damage_text(report: BucketReport, first: int, end: int) -> str:
    ranges = [*report.log.damages, *([report.state] if report.state else [])]
    known = "; ".join(f"{one.first} {one.end} ({one.reason})" for one in ranges) or "none"
    return f"{first} {end} is no damaged range of {report.bucket.name}; nothing was changed. Damaged are: {known}."
