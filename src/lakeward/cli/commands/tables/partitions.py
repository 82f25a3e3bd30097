"""lakeward partitions: list, create, drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.parameters import TableName, confirm
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say, show_listing
from lakeward.errors import ErrorCode

if TYPE_CHECKING:
    from lakeward.client.blocking.sync_table import Table

_spec_argument = click.argument("spec", nargs=-1, required=True, metavar="COLUMN=VALUE…", callback=key_values)


@click.group(cls=Verbs)
def partitions() -> None:
    """List, create and drop the partitions of a table."""


@partitions.command("list")
@click.argument("table", type=TableName())
@output_option()
@on_server
def list_partitions(session: Session, table: str, output: str) -> None:
    """List the partitions of a table.

    \b
    Example:
      lakeward partitions list shop.orders
    """
    with session.connect() as connection:
        found = _require_partitions(connection.table(table)).partitions()
    rows = [{"partition": p.name, "id": p.id, "values": dict(p.spec)} for p in found]
    show_listing(rows, ["partition", "id", "values"], output, f"{table} has no partitions yet.")


@partitions.command("create")
@click.argument("table", type=TableName())
@_spec_argument
@click.option("--if-not-exists", is_flag=True, help="Do nothing when the partition is there already.")
@on_server
def create_partition(session: Session, table: str, spec: dict[str, str], if_not_exists: bool) -> None:
    """Create a partition: a value for each partition column.

    \b
    Examples:
      lakeward partitions create shop.orders dt=2026-08-01
      lakeward partitions create shop.orders dt=2026-08-01 region=eu --if-not-exists
    """
    with session.connect() as connection:
        _require_partitions(connection.table(table)).create_partition(spec, exist_ok=if_not_exists)
    say(f"Partition {_spec_text(spec)} of {table} is there.")


@partitions.command("drop")
@click.argument("table", type=TableName())
@_spec_argument
@click.option("--if-exists", is_flag=True, help="Do nothing when there is no such partition.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@on_server
def drop_partition(session: Session, table: str, spec: dict[str, str], if_exists: bool, yes: bool) -> None:
    """Drop a partition and all its rows.

    \b
    Example:
      lakeward partitions drop shop.orders dt=2026-08-01 --yes
    """
    confirm(f"Drop partition {_spec_text(spec)} of {table} with all its rows?", yes)
    with session.connect() as connection:
        _require_partitions(connection.table(table)).drop_partition(spec, missing_ok=if_exists)
    say(f"Partition {_spec_text(spec)} of {table} is gone.")


def _require_partitions(table: Table) -> Table:
    if not table.info.descriptor.is_partitioned:
        raise ErrorCode.TABLE_NOT_PARTITIONED.error(
            f"{table.path} is not partitioned; a table is, if it was created with --partition-by."
        )
    return table


def _spec_text(spec: dict[str, str]) -> str:
    return ", ".join(f"{column}={value}" for column, value in spec.items())
