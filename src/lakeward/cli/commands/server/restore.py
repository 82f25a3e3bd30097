"""lakeward restore: an empty machine becomes the server again."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.commands.server.serve import options_of
from lakeward.cli.output.listing import moment, output_option, say, show_json, show_listing
from lakeward.options.server import REMOTE_DATA_DIR
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.private_files import keep_private

if TYPE_CHECKING:
    from lakeward.options.server_options import ServerOptions
    from lakeward.server.restore.report import RestoredTable, RestoreReport


@click.command()
@click.option("--from", "source", required=True, metavar="URL", help="The lost server's remote.data.dir.")
@click.option(
    "--data-dir",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="An empty directory, or none yet.",
)
@click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Settings as YAML.")
@click.option("-D", "pairs", multiple=True, metavar="KEY=VALUE", help="A setting, as for `lakeward serve`.")
@click.option("--take-over", is_flag=True, help="Even if the old server still gives signs of life.")
@output_option()
def restore(
    source: str, data_dir: Path, config: Path | None, pairs: tuple[str, ...], take_over: bool, output: str
) -> None:
    """Rebuild a lost server from its remote storage.

    Metadata, logs and state come back as far as they had been copied; what is known to be missing is reported for each
    table. A restore that is interrupted can be run again. The old server, should it still live, notices within seconds
    that it was replaced and takes no more writes.

    \b
    Examples:
      lakeward restore --from s3://bucket/lakeward --data-dir /var/lib/lakeward -D s3.region=eu-central-1
      lakeward serve --data-dir /var/lib/lakeward -D remote.data.dir=s3://bucket/lakeward -D s3.region=eu-central-1
    """

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s", stream=sys.stderr)
    keep_private()
    options = options_of(config, data_dir, None, (*pairs, f"remote.data.dir={source}"))
    report = asyncio.run(_restore(options, data_dir, is_forced=take_over))
    if output == "json":
        show_json(_as_node(report))
        return
    _show(report, data_dir)


async def _restore(options: ServerOptions, data_dir: Path, *, is_forced: bool) -> RestoreReport:
    from lakeward.remote.open_store import check_store, open_store
    from lakeward.server.restore.restore import Restore

    url = options.get(REMOTE_DATA_DIR)
    assert url is not None
    store = open_store(url, options.texts)
    try:
        await check_store(store)
        return await Restore(store, data_dir, SystemClock(), SystemEntropy(), say).run(is_forced=is_forced)
    finally:
        await store.close()


def _row(table: RestoredTable) -> dict[str, Any]:
    return {
        "table": str(table.info.path),
        "buckets": table.buckets,
        "log_rows": table.log_rows,
        "snapshot_rows": table.snapshot_rows if table.info.descriptor.has_primary_key else None,
        "changes_since": table.changes_since if table.info.descriptor.has_primary_key else None,
        "lake_rows": table.lake_rows or None,
        "last_row": None if table.last_ms is None else moment(table.last_ms),
        "lost_rows": table.lost_rows,
        "troubles": table.troubles,
    }


def _as_node(report: RestoreReport) -> dict[str, Any]:
    return {
        "from": report.url,
        "epoch": report.epoch,
        "last_seen": None if report.seen_ms is None else moment(report.seen_ms),
        "was_stopped": report.was_stopped,
        "downloaded_bytes": report.downloaded_bytes,
        "lost_rows": report.lost_rows,
        "tables": [_row(table) for table in report.tables],
        "troubles": report.troubles,
    }


def _show(report: RestoreReport, data_dir: Path) -> None:
    columns = ["table", "buckets", "log_rows", "snapshot_rows", "changes_since", "lake_rows", "last_row", "lost_rows"]
    rows = [_row(table) for table in report.tables]
    show_listing(rows, columns, "table", "There were no tables.", numbers=[*columns[1:6], columns[7]])
    for trouble in [*report.troubles, *(f"{t.info.path}, {one}" for t in report.tables for one in t.troubles)]:
        say(f"Note: {trouble}.")
    say(_loss_text(report))
    say(f"Start it with: lakeward serve --data-dir {data_dir} -D remote.data.dir={report.url} …")


def _loss_text(report: RestoreReport) -> str:
    """What is lost at most, in a sentence."""
    copied = "copied or tiered" if any(table.lake_rows for table in report.tables) else "copied"
    known = f"{report.lost_rows:,} records had not been" if report.lost_rows else "All records had been"
    known = f"{known} {copied}"
    if report.seen_ms is None:
        return "The old server left no sign of life: what it had not copied is lost, and how much is not known."
    if report.was_stopped:
        return f"{known} when the old server was stopped at {moment(report.seen_ms)}. Nothing else is lost."
    return (
        f"{known} when the old server was last heard of at {moment(report.seen_ms)}; what it took after that, and had "
        f"not {copied}, is lost too."
    )
