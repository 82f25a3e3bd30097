"""The program: `lakeward NOUN VERB`."""

from __future__ import annotations

import click

from lakeward.cli.command_tree import CommandTree
from lakeward.cli.session import root_options

_HOME = "lakeward.cli."
_SECTIONS = {
    "Run": {"serve": _HOME + "serve", "restore": _HOME + "restore", "demo": _HOME + "demo", "bench": _HOME + "bench"},
    "Define": {
        "databases": _HOME + "databases",
        "tables": _HOME + "tables",
        "partitions": _HOME + "partitions",
    },
    "Read and write": {
        "append": _HOME + "append",
        "tail": _HOME + "tail",
        "head": _HOME + "head",
        "sql": _HOME + "sql",
        "plan": _HOME + "plan",
        "offsets": _HOME + "offsets",
    },
    "By key": {
        "upsert": _HOME + "upsert",
        "delete": _HOME + "delete",
        "lookup": _HOME + "lookup",
        "changelog": _HOME + "changelog",
        "dump": _HOME + "dump",
    },
    "Into the lake": {
        "tier": _HOME + "tier",
        "lake": _HOME + "lake",
    },
    "Look after": {
        "metadata": _HOME + "metadata",
        "groups": _HOME + "groups",
        "skip": _HOME + "skip",
        "remote": _HOME + "remote",
        "verify": _HOME + "verify",
        "repair": _HOME + "repair",
        "cluster": _HOME + "cluster",
        "completion": _HOME + "completion",
    },
}


@click.command(
    cls=CommandTree,
    sections=_SECTIONS,
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
    cli(prog_name="lakeward")
