"""The program: `lakeward NOUN VERB`."""

from __future__ import annotations

import signal

import click

from lakeward.cli.input.command_tree import CommandTree
from lakeward.cli.input.session import root_options
from lakeward.cli.output.plain_text import show_all_text

_HOME = "lakeward.cli."
_SECTIONS = {
    "Run": {
        "serve": _HOME + "commands.server.serve",
        "tablet": _HOME + "commands.cluster.tablet",
        "restore": _HOME + "commands.server.restore",
        "demo": _HOME + "demo.demo",
        "bench": _HOME + "commands.server.bench",
    },
    "In containers": {
        "coordinator-server": _HOME + "commands.container.coordinator_server",
        "tablet-server": _HOME + "commands.container.tablet_server",
        "health": _HOME + "commands.container.health",
    },
    "Define": {
        "databases": _HOME + "commands.tables.databases",
        "tables": _HOME + "commands.tables.tables",
        "partitions": _HOME + "commands.tables.partitions",
    },
    "Read and write": {
        "append": _HOME + "commands.rows.append",
        "tail": _HOME + "commands.rows.tail",
        "head": _HOME + "commands.rows.head",
        "sql": _HOME + "commands.rows.sql",
        "plan": _HOME + "commands.rows.plan",
        "offsets": _HOME + "commands.tables.offsets",
    },
    "By key": {
        "upsert": _HOME + "commands.rows.upsert",
        "delete": _HOME + "commands.rows.delete",
        "lookup": _HOME + "commands.rows.lookup",
        "changelog": _HOME + "commands.rows.changelog",
        "dump": _HOME + "commands.rows.dump",
    },
    "Scripts": {
        "run": _HOME + "commands.scripts.run",
        "shell": _HOME + "commands.scripts.shell.shell",
        "jobs": _HOME + "commands.scripts.jobs",
        "pipeline": _HOME + "commands.pipelines.pipeline",
    },
    "Into the lake": {
        "tier": _HOME + "commands.lake.tier",
        "lake": _HOME + "commands.lake.lake",
        "catalog": _HOME + "commands.lake.catalog",
    },
    "Who may come in": {
        "users": _HOME + "commands.access.users",
        "certs": _HOME + "commands.access.certs",
        "acls": _HOME + "commands.access.acls",
    },
    "Look after": {
        "console": _HOME + "commands.server.console",
        "doctor": _HOME + "commands.server.doctor",
        "metadata": _HOME + "commands.server.metadata",
        "groups": _HOME + "commands.tables.groups",
        "skip": _HOME + "commands.rows.skip",
        "remote": _HOME + "commands.server.remote",
        "verify": _HOME + "commands.server.verify",
        "repair": _HOME + "commands.server.repair",
        "copy": _HOME + "commands.tables.copy",
        "cluster": _HOME + "commands.server.cluster",
        "completion": _HOME + "commands.server.completion",
    },
}
#: As the containers of Apache Fluss are told.
_ALIASES = {"coordinatorServer": "coordinator-server", "tabletServer": "tablet-server"}


@click.command(
    cls=CommandTree,
    sections=_SECTIONS,
    aliases=_ALIASES,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": None},
)
@root_options
@click.version_option(None, "-V", "--version", package_name="lakeward", message="lakeward %(version)s")
def cli() -> None:
    """Streaming storage for real-time analytics that speaks the Apache Fluss protocol.

    \b
    A first session:
      lakeward serve &
      lakeward databases create shop
      lakeward tables create shop.orders "id BIGINT, item STRING, price DECIMAL(10, 2)"
      lakeward append shop.orders orders.csv
      lakeward tail shop.orders

    Every command explains itself: `lakeward tables create --help`. Exit codes: 0 done, 1 the server or the data said
    no, 2 the command line was wrong.
    """


def main() -> None:
    """Entry point of the `lakeward` script."""
    show_all_text()
    try:
        cli(prog_name="lakeward")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends at once, without a trace
