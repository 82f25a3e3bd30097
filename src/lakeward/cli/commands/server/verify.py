"""lakeward verify: is everything as it was written, and does it say the same wherever it is told?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.lake_read import read_options
from lakeward.cli.input.near_names import nearest
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, moment, output_option, say, show_json, show_listing
from lakeward.cli.output.read_progress import ReadProgress
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


def _checked_or_none(context: click.Context, option: click.Parameter, root: Path | None) -> Path | None:
    return None if root is None else checked_data_dir(context, option, root)


data_dir_option = click.option(
    "--data-dir",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    callback=checked_data_dir,
    help="The server's data directory.",
)


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]…")
@click.option(
    "--data-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    callback=_checked_or_none,
    help="Read this data directory of a server, running or not, instead of asking one.",
)
@click.option("--remote", metavar="URL", help="Read what a server copied to this remote.data.dir.")
@click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Its settings as YAML.")
@click.option(
    "-D", "pairs", multiple=True, metavar="KEY=VALUE", help="A setting of it, such as s3.region=eu-central-1."
)
@click.option("--rate", type=click.IntRange(min=1), metavar="MB", help="Megabytes to read a second at most.")
@click.option("--state", "state", is_flag=True, help="Of a running server: only rows by key against their changelog.")
@click.option("--lake", "lake", is_flag=True, help="Of a running server: only the lake against the log.")
@click.option("--warehouse", metavar="DIR", help="Where lake tables are, if the tables do not say it.")
@click.option(
    "--catalog", "properties", multiple=True, metavar="KEY=VALUE", callback=key_values, help="A lake catalog property."
)
@output_option()
@on_server
@click.pass_context
def verify(
    context: click.Context,
    session: Session,
    tables: tuple[str, ...],
    data_dir: Path | None,
    remote: str | None,
    config: Path | None,
    pairs: tuple[str, ...],
    rate: int | None,
    state: bool,
    lake: bool,
    warehouse: str | None,
    properties: dict[str, str],
    output: str,
) -> None:
    """Read everything and tell what is damaged, or what does not say the same twice.

    With --data-dir, the files of a server: every batch's checksum, that offsets follow each other from segment to
    segment, that each log reaches as far as it is known to have come, indexes, snapshots of the state, metadata. It
    changes nothing, and may run beside the server: what comes while it reads is not looked at.

    With --remote, the copies of a server in a directory or in S3, which are brought here one after the other.

    Without either, a running cluster, by its protocol: every row of every log is read, which checks checksums wherever
    the row lies, remote storage included. A primary key table's rows are compared with what its changelog leaves of
    each key, and the rows of the lake with those of the log up to the offsets that the lake's snapshot names. What
    changes meanwhile, and what is older than the log, is counted and not compared.

    Exits with 1 when something is damaged or differs.

    \b
    Examples:
      lakeward verify
      lakeward verify shop.orders shop.customers --lake
      lakeward verify shop.customers --state -o json
      lakeward verify --data-dir /var/lib/lakeward
      lakeward verify shop.orders --data-dir /var/lib/lakeward --rate 50 -o json
      lakeward verify --remote s3://bucket/lakeward -D s3.region=eu-central-1
    """
    if remote is not None:
        from lakeward.cli.commands.server.verify_store import verify_remote

        if data_dir is not None or tables or state or lake:
            raise click.UsageError("--remote reads all that is in a store: it goes with --config and -D only.")
        context.exit(0 if verify_remote(remote, config, pairs, output) else 1)
    if data_dir is None:
        from lakeward.agreement.report import Wanted
        from lakeward.cli.commands.server.verify_cluster import verify_cluster

        if rate is not None:
            raise click.UsageError("--rate is for --data-dir: a server has limits of its own.")
        for name in tables:
            if Path(name).is_dir():
                raise click.UsageError(f"{name} is a directory: say --data-dir {name}")
        wanted = Wanted(state=state or not lake, lake=lake or not state)
        place = read_options(warehouse, properties, None, None)
        context.exit(0 if verify_cluster(session, tables, wanted, place, output) else 1)
    if state or lake or warehouse or properties:
        raise click.UsageError("State and lake are compared on a running server: leave --data-dir out.")
    context.exit(0 if verify_files(data_dir, tables, rate, output) else 1)


def verify_files(data_dir: Path, tables: Sequence[str], rate: int | None, output: str) -> bool:
    """Read a data directory; whether everything is as it was written."""
    from lakeward.storage.verify import verify as verified

    for table in tables:
        check_table(data_dir, table)
    with ReadProgress("bytes") as progress:
        pause = _pacer(rate, progress)
        root = data_dir.resolve()
        reports = [one for table in tables or (None,) for one in verified(LocalFiles(), root, table, pause)]
    damaged = [row for report in reports for row in damage_rows(report)]
    damaged += [] if tables else _metadata_rows(root)
    given_up = [row for report in reports for row in _given_up(report)]
    bytes_read = sum(report.log.bytes for report in reports)
    if output == "json":
        notes = [note for report in reports for note in report.log.notes]
        show_json(
            {"buckets": len(reports), "bytes": bytes_read, "damaged": damaged, "given_up": given_up, "notes": notes}
        )
    else:
        _show(reports, damaged, given_up, bytes_read)
    return not damaged


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
    rows += [
        {
            **place,
            "what": "index",
            "first": None,
            "end": None,
            "file": str(path),
            "reason": f"{reason}; delete it while the server is stopped, and it is made again from the segment",
            "remedy": None,
        }
        for path, reason in report.log.indexes
    ]
    return rows


def _metadata_rows(root: Path) -> list[dict[str, Any]]:
    """What is wrong with the files that say which tables there are, a row each."""
    from lakeward.server.restore.verified_metadata import verify_metadata

    blank = {"table": None, "partition": None, "bucket": None, "first": None, "end": None, "remedy": None}
    return [
        {**blank, "what": "metadata", "file": str(path), "reason": reason}
        for path, reason in verify_metadata(LocalFiles(), root)
    ]


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


def _pacer(megabytes_s: int | None, progress: ReadProgress) -> Callable[[int], None]:
    def pause(size: int) -> None:
        progress.move("files", size)
        if megabytes_s is not None:
            time.sleep(size / (megabytes_s * 1e6))

    return pause
