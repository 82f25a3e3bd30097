"""lakeward tables compact: fewer, larger files of a table in the lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.input.failures import Failure
from lakeward.cli.input.lake_read import lake_place, lake_place_options
from lakeward.cli.input.parameters import TableName
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, output_option, say, show_json
from lakeward.options.table import LAKE_ENABLED, LOG_COMPACTION, LOG_COMPACTION_INTERVAL

if TYPE_CHECKING:
    from lakeward.lake.port import Compaction, Compacts
    from lakeward.model.table import TableInfo


@click.command()
@click.argument("table", type=TableName())
@click.option("--dry-run", is_flag=True, help="Only say what would be rewritten.")
@lake_place_options
@output_option()
@on_server
def compact(
    session: Session, table: str, dry_run: bool, warehouse: str | None, properties: dict[str, str], output: str
) -> None:
    """Rewrite a table's small files in the lake as few large ones, with deleted rows left out.

    No row changes, and what the lake says of its offsets stays. It may run beside a tiering service: each step is one
    commit, which begins again where a round came first; a round that is overtaken begins again as well. Readers of an
    older snapshot keep its files until it expires. After a kill, `lakeward lake clean` finds what was left behind.

    The log itself is compacted by the server, where the table asks for it by `table.log.compaction.enabled`.

    \b
    Examples:
      lakeward tables compact shop.orders --dry-run
      lakeward tables compact shop.orders
      lakeward tables compact shop.customers --warehouse ./lake -o json
    """
    with session.connect() as connection:
        info = connection.table(table).info
        told = _hot_text(info)
        lake = _lake_table(info, lake_place(warehouse, properties))
        if lake is None and LAKE_ENABLED.read(info.descriptor.properties):
            raise Failure(f"There is no table {info.path} in the lake yet. Has a tiering service run?")
        done = None if lake is None else lake.untidy() if dry_run else lake.compact_fully(_say_step)
    if output == "json":
        show_json({"table": str(info.path), "dry_run": dry_run, "lake": _as_node(done), "hot": told})
        return
    click.echo(f"{info.path} is not tiered into a lake." if done is None else _sentence(info, done, dry_run))
    for reason in () if done is None else done.left:
        say(f"Left alone: {reason}.")
    say(told)


def _lake_table(info: TableInfo, given: dict[str, str]) -> Compacts | None:
    from lakeward.lake.home import check_found
    from lakeward.lake.port import Compacts
    from lakeward.tiering.round.catalogs import LakeCatalogs

    if not given and not LAKE_ENABLED.read(info.descriptor.properties):
        return None
    catalog = LakeCatalogs(given).of(info)
    if catalog.load(info.path) is None:
        check_found(info, given)
        return None
    found: Any = catalog.ensure(info)
    if not isinstance(found, Compacts):
        raise Failure(f"The lake format of {info.path} offers no compaction.")
    return found


def _say_step(step: Compaction) -> None:
    say(f"Snapshot {step.snapshot_id}: {_change_text(step)}.")


def _change_text(done: Compaction) -> str:
    files = f"{count(done.before.files, 'file')} → {done.after.files:,}"
    return f"{files}, {_size(done.before.bytes)} → {_size(done.after.bytes)}"


def _sentence(info: TableInfo, done: Compaction, dry_run: bool) -> str:
    if not done.before.files:
        return f"{info.path}: nothing to do, its files in the lake are as few as they can be."
    deletes = f", {done.deletes:,} of them deletes," if done.deletes else ""
    if dry_run:
        return (
            f"{info.path}: {count(done.before.files, 'file')} ({_size(done.before.bytes)}){deletes} in "
            f"{count(done.places, 'place')} would become about {done.after.files:,}."
        )
    return f"{info.path}: {_change_text(done)}{deletes} in {count(done.places, 'place')}; snapshot {done.snapshot_id}."


def _hot_text(info: TableInfo) -> str:
    """What becomes of the log, which only the server may touch."""
    properties = info.descriptor.properties
    if not info.descriptor.has_primary_key:
        return "Its log is not compacted: each row of a log table counts. Retention lets go of old ones."
    if LOG_COMPACTION.read(properties):
        minutes = LOG_COMPACTION_INTERVAL.read(properties) / 60_000
        return f"Its changelog is compacted by the server every {minutes:g} minutes, as closed segments gather."
    return (
        "Its changelog is not compacted. The server keeps only the last change of each key in closed segments after: "
        f"lakeward tables alter {info.path} --set {LOG_COMPACTION.key}=true"
    )


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"


def _as_node(done: Compaction | None) -> dict[str, Any] | None:
    if done is None:
        return None
    return {
        "places": done.places,
        "files_before": done.before.files,
        "files_after": done.after.files,
        "bytes_before": done.before.bytes,
        "bytes_after": None if done.snapshot_id is None else done.after.bytes,
        "delete_files": done.deletes,
        "snapshot": done.snapshot_id,
        "left": list(done.left),
    }
