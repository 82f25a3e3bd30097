"""lakeward tier: the tiering service, and what people say to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.parameters import TableName
from lakeward.cli.input.session import Session, bootstrap_option, on_server
from lakeward.cli.output.listing import count, output_option, say
from lakeward.runtime.clock import SystemClock


def _print_script(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from lakeward.cli.submit import TIER_SCRIPT

        click.echo(str(TIER_SCRIPT))
        context.exit()


@click.group(cls=Verbs, invoke_without_command=True)
@bootstrap_option
@click.option("--warehouse", metavar="DIR", help="Where lake tables are, if the cluster does not say it.")
@click.option(
    "--lake", "lake", multiple=True, metavar="KEY=VALUE", callback=key_values, help="A lake catalog property."
)
@click.option("--engine", type=click.Choice(["spark", "local"]), default="spark", show_default=True, help="Runs tasks.")
@click.option("--master", default="local[*]", show_default=True, help="Spark's master.")
@click.option("--conf", multiple=True, metavar="KEY=VALUE", callback=key_values, help="A setting of Spark.")
@click.option("--metrics-port", type=click.IntRange(0, 65535), help="Serve /metrics for Prometheus on this port.")
@click.option("--otlp-endpoint", metavar="URL", help="Send traces of rounds to this collector of OpenTelemetry.")
@click.option("--state-dir", type=click.Path(file_okay=False, path_type=Path), help="Where rounds under way are noted.")
@click.option(
    "--submit-script", is_flag=True, is_eager=True, expose_value=False, callback=_print_script, help="See above."
)
@click.pass_context
def tier(context: click.Context, /, **given: Any) -> None:
    """Keep moving what the log has and the lake lacks, until it is stopped.

    Every table with 'table.datalake.enabled' is copied into the lake as often as its 'table.datalake.freshness' says. A
    cluster that knows no lake learns it from the first service that names one.
    Ctrl-C and SIGTERM let rounds under way finish. Several services may run at once, on any machine. `--submit-script`
    prints the path of the script that spark-submit takes.

    \b
    Examples:
      lakeward tier --bootstrap localhost:9123 --warehouse ./lake
      lakeward tier --warehouse ./lake --engine local
      lakeward tier --master spark://host:7077 --lake type=rest --lake uri=http://catalog:8181
      spark-submit --master yarn $(lakeward tier --submit-script) --lake type=glue
    """
    if context.invoked_subcommand is None:
        from lakeward.cli.commands.lake.tier_run import run_service

        run_service(context.ensure_object(Session), **given)


@tier.command("status")
@click.argument("tables", nargs=-1, type=TableName())
@output_option()
@on_server
def tier_status(session: Session, tables: tuple[str, ...], output: str) -> None:
    """Show how each lake table does: its state, its last round, how far the lake is behind, why it failed.

    \b
    Examples:
      lakeward tier status
      lakeward tier status shop.orders -o json
    """
    from lakeward.cli.commands.lake.tier_status import show_status

    with session.connect() as connection:
        show_status(connection, tables, output)


@tier.command("now")
@click.argument("table", type=TableName())
@click.option("--wait", is_flag=True, help="Return when all rows of now are in the lake.")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Wait no longer than this.")
@click.option("--skip-lost", is_flag=True, help="Go on after rows that retention removed before they were tiered.")
@on_server
def tier_now(session: Session, table: str, wait: bool, timeout: float | None, skip_lost: bool) -> None:
    """Have a round of a table begin at once; a paused table is tiered once.

    \b
    Examples:
      lakeward tier now shop.orders
      lakeward tier now shop.orders --wait
    """
    from lakeward.cli.commands.lake.tier_status import wait_for_lake
    from lakeward.options.tiering import SKIP_LOST
    from lakeward.tiering.watch.orders import ask_for_round

    with session.connect() as connection:
        opened = connection.table(table)
        more = {SKIP_LOST.key: "true"} if skip_lost else None
        asked = ask_for_round(connection, opened, SystemClock().now_ms(), more)
        if not wait:
            say(f"A round of {opened.path} was asked for.")
            return
        wait_for_lake(connection, opened, asked, timeout)
    say(f"{opened.path}: {count(asked.rows, 'row')} moved, all is in the lake.")


@tier.command("pause")
@click.argument("table", type=TableName())
@on_server
def tier_pause(session: Session, table: str) -> None:
    """Begin no more rounds of a table; one under way ends as usual.

    \b
    Example:
      lakeward tier pause shop.orders
    """
    from lakeward.tiering.watch.orders import pause

    with session.connect() as connection:
        pause(connection, connection.table(table))
    say(f"{table} is paused; `lakeward tier resume {table}` goes on.")


@tier.command("resume")
@click.argument("table", type=TableName())
@on_server
def tier_resume(session: Session, table: str) -> None:
    """Let the rounds of a table go on.

    \b
    Example:
      lakeward tier resume shop.orders
    """
    from lakeward.tiering.watch.orders import resume

    with session.connect() as connection:
        resume(connection, connection.table(table))
    say(f"{table} is tiered again.")
