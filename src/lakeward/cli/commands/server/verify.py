"""lakeward verify: is everything in a data directory as it was written?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.input.near_names import nearest
from lakeward.cli.output.listing import count, moment, output_option, say, show_json, show_listing
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.disk.directories import has_metadata

if TYPE_CHECKING:
    from lakeward.storage.verify import BucketReport


def checked_data_dir(_context: click.Context, _option: click.Parameter, root: Path) -> Path:
    """Nothing is found in a wrong directory, and nothing is what a person hopes for: so it is refused."""
    from lakeward.storage.stored_logs import stored_buckets

    disk = LocalFiles()
    if has_metadata(disk, root) or any(stored_buckets(disk, root)):
        return root
    below = next((path for path in sorted(root.iterdir()) if path.is_dir() and has_metadata(disk, path)), None)
    hint = "" if below is None else f" Did you mean {below}?"
    raise click.BadParameter(f"{root} is no data directory of Lakeward: no metadata files are in it.{hint}")


data_dir_option = click.option(
    "--data-dir",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    callback=checked_data_dir,
    help="The server's data directory.",
)


@click.command()
@click.argument("table", required=False)
@data_dir_option
@click.option("--rate", type=int, metavar="MB", help="Megabytes to read a second at most.")
@output_option()
@click.pass_context
def verify(context: click.Context, table: str | None, data_dir: Path, rate: int | None, output: str) -> None:
    """Read all stored segments and snapshots and tell what is damaged.

    Checks every batch's checksum, that offsets follow each other from segment to segment, and that each log reaches as
    far as it is known to have come. Changes nothing, and may run beside the server: what comes while it reads is not
    looked at. Exits with 1 when something is damaged.

    \b
    Examples:
      lakeward verify --data-dir /var/lib/lakeward
      lakeward verify shop.orders --data-dir /var/lib/lakeward --rate 50 -o json
    """
    from lakeward.storage.verify import verify as verified

    if table is not None:
        check_table(data_dir, table)
    reports = list(verified(LocalFiles(), data_dir.resolve(), table, None if rate is None else _pacer(rate)))
    damaged = [row for report in reports for row in damage_rows(report)]
    given_up = [row for report in reports for row in _given_up(report)]
    bytes_read = sum(report.log.bytes for report in reports)
    if output == "json":
        notes = [note for report in reports for note in report.log.notes]
        show_json(
            {"buckets": len(reports), "bytes": bytes_read, "damaged": damaged, "given_up": given_up, "notes": notes}
        )
    else:
        _show(reports, damaged, given_up, bytes_read)
    context.exit(1 if damaged else 0)


def check_table(data_dir: Path, table: str) -> None:
    """Refuse a name that no stored table has."""
    from lakeward.storage.stored_logs import stored_buckets

    tables = {bucket.table for bucket in stored_buckets(LocalFiles(), data_dir)}
    if table not in tables:
        near = nearest(table, tables)
        hint = "" if near is None else f" Did you mean {near}?"
        raise click.UsageError(f"{data_dir} has no table {table} that was ever written to.{hint}")


def _show(
    reports: list[BucketReport], damaged: list[dict[str, Any]], given_up: list[dict[str, Any]], bytes_read: int
) -> None:
    if damaged:
        show_listing(damaged, ["table", "partition", "bucket", "what", "first", "end", "file", "reason"], "table", "")
    for row in given_up:
        say(
            f"Given up: offsets {row['first']} to {row['end'] - 1} of {row['table']}, bucket {row['bucket']}, at "
            f"{row['time']} ({row['reason']})."
        )
    for report in reports:
        for note in report.log.notes:
            say(f"Note: {note}.")
    read = f"{count(len(reports), 'bucket')} read, {bytes_read / 1e6:,.1f} MB of batches"
    say(f"{read}: {count(len(damaged), 'damaged place') if damaged else 'everything is as it was written'}.")
    if any(row["remedy"] for row in damaged):
        say("Bring the files back from a copy, or give ranges up; then those rows are gone for ever:")
        for row in damaged:
            if row["remedy"]:
                say(f"  {row['remedy']}")


def damage_rows(report: BucketReport) -> list[dict[str, Any]]:
    """What is wrong with a bucket, a row each."""
    from lakeward.storage.log.segment.damage import repair_command

    bucket = report.bucket
    place = {"table": bucket.table, "partition": bucket.partition, "bucket": bucket.bucket}
    rows: list[dict[str, Any]] = []
    for what, damages in (("log", list(report.log.damages)), ("state", [report.state] if report.state else [])):
        rows += [
            {
                **place,
                "what": what,
                "first": one.first,
                "end": one.end,
                "file": str(one.path),
                "reason": one.reason,
                "remedy": repair_command(bucket.name, one.first, one.end, bucket.log),
            }
            for one in damages
        ]
    rows += [
        {
            **place,
            "what": "snapshot",
            "first": None,
            "end": None,
            "file": str(path),
            "reason": "a file is missing or not as it was written; the snapshot before it and the log are used",
            "remedy": None,
        }
        for path in report.snapshots
    ]
    return rows


def _given_up(report: BucketReport) -> list[dict[str, Any]]:
    bucket = report.bucket
    return [
        {
            "table": bucket.table,
            "partition": bucket.partition,
            "bucket": bucket.bucket,
            "first": one.first,
            "end": one.end,
            "reason": one.reason,
            "time": moment(one.time_ms),
        }
        for one in report.log.given_up
    ]


def _pacer(megabytes_s: int) -> Any:
    def pause(size: int) -> None:
        time.sleep(size / (megabytes_s * 1e6))

    return pause
