"""lakeward lake: look after tables in the lake."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.parameters import TableName, confirm
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, output_option, say, show_json
from lakeward.runtime.clock import SystemClock

F = TypeVar("F", bound=Callable[..., Any])
_PROPERTY = "A catalog property."
_UNIT_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


@click.group(cls=Verbs)
def lake() -> None:
    """Look after tables in the lake."""


def _lake_at(warehouse: str | None, properties: dict[str, str]) -> dict[str, str]:
    return ({} if warehouse is None else {"warehouse": warehouse}) | properties


def _age(_context: click.Context, option: click.Parameter, text: str) -> int:
    found = re.fullmatch(r"(\d+)\s*([smhd])", text.strip())
    if found is None:
        raise click.BadParameter(f"{text!r} is no age such as 1d, 12h or 30m.", param=option)
    return int(found[1]) * _UNIT_MS[found[2]]


def _lake_options(command: F) -> F:
    for option in (
        click.option("-y", "--yes", is_flag=True, help="Do not ask."),
        click.option("--lake", "properties", multiple=True, metavar="KEY=VALUE", callback=key_values, help=_PROPERTY),
        click.option("--warehouse", metavar="DIR", help="Where lake tables are, if the cluster does not say it."),
    ):
        command = option(command)
    return command


@lake.command("drop")
@click.argument("table", type=TableName())
@_lake_options
@on_server
def drop(session: Session, table: str, warehouse: str | None, properties: dict[str, str], yes: bool) -> None:
    """Remove what an earlier table of the same name has left in the lake.

    A table that was dropped leaves its rows in the lake; one that is created under the same name is not tiered until
    they are gone. What belongs to the table as it is now is never removed.

    \b
    Examples:
      lakeward lake drop shop.orders
      lakeward lake drop shop.orders --warehouse ./lake --yes
    """
    from lakeward.lake.port import Drops
    from lakeward.tiering.round.catalogs import LakeCatalogs

    with session.connect() as connection:
        info = connection.table(table).info
        is_tiered = connection.lake.snapshot(info.path) is not None
    catalog: Any = LakeCatalogs(_lake_at(warehouse, properties)).of(info)
    found = catalog.load(info.path)
    if found is None:
        raise Failure(f"There is no table {info.path} in the lake.")
    known = found.latest()
    tells = known is not None and known.offsets is not None
    if is_tiered or known is None or (tells and all(b.table_id == info.table_id for b in known.offsets)):
        raise Failure(
            f"What is in the lake is of {info.path} as it is now. To remove both, drop the table "
            f"(`lakeward tables drop {info.path}`), create it again, and then say this."
        )
    if not isinstance(catalog, Drops):
        raise Failure(f"The lake format of {info.path} offers no dropping.")
    confirm(f"Remove the earlier table {info.path} from the lake, with all its rows?", yes)
    catalog.drop(info.path)
    say(f"The earlier table {info.path} is gone from the lake.")


@lake.command("clean")
@click.argument("table", type=TableName())
@click.option("--older-than", "age_ms", default="1d", show_default=True, callback=_age, help="Only files of this age.")
@click.option("--dry-run", is_flag=True, help="Only list them.")
@_lake_options
@output_option()
@on_server
def clean(
    session: Session,
    table: str,
    age_ms: int,
    dry_run: bool,
    warehouse: str | None,
    properties: dict[str, str],
    yes: bool,
    output: str,
) -> None:
    """Delete files in a lake table's folder that a crash left behind.

    Only files that a tiering service names so are looked at, and only those that no snapshot knows. A round under way
    has such files too, which is why young ones are left alone.

    \b
    Examples:
      lakeward lake clean shop.orders --warehouse ./lake --dry-run
      lakeward lake clean shop.orders --warehouse ./lake --older-than 12h --yes
    """
    from lakeward.lake.port import KeepsHouse
    from lakeward.tiering.round.catalogs import LakeCatalogs

    with session.connect() as connection:
        info = connection.table(table).info
    found: Any = LakeCatalogs(_lake_at(warehouse, properties)).of(info).load(info.path)
    if found is None:
        raise Failure(f"There is no table {info.path} in the lake.")
    if not isinstance(found, KeepsHouse):
        raise Failure(f"The lake format of {info.path} offers no cleaning.")
    orphans = sorted(found.orphans(SystemClock().now_ms() - age_ms))
    if output == "json":
        show_json({"table": str(info.path), "files": orphans, "deleted": not dry_run})
    else:
        for path in orphans:
            click.echo(path)
    if dry_run or not orphans:
        say(f"{count(len(orphans), 'file')} of {info.path} could be deleted.")
        return
    confirm(f"Delete {count(len(orphans), 'file')}?", yes)
    found.remove(orphans)
    say(f"{count(len(orphans), 'file')} of {info.path} deleted.")
