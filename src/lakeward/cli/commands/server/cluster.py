"""lakeward cluster: its servers and the options it runs with."""

from __future__ import annotations

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say, show_listing


@click.group(cls=Verbs)
def cluster() -> None:
    """Look at the servers of a cluster, and change its options."""


@cluster.command("describe")
@output_option()
@on_server
def describe_cluster(session: Session, output: str) -> None:
    """List the servers of the cluster.

    \b
    Example:
      lakeward cluster describe
    """
    with session.connect() as connection:
        servers = connection.servers()
    rows = [{"role": s.role, "id": s.id, "host": s.host, "port": s.port} for s in servers]
    show_listing(rows, ["role", "id", "host", "port"], output, "The cluster names no servers.")


@cluster.command("options")
@click.argument("prefix", required=False, default="")
@output_option()
@on_server
def list_options(session: Session, prefix: str, output: str) -> None:
    """List the options the cluster runs with, all or those whose name starts with PREFIX.

    \b
    Examples:
      lakeward cluster options
      lakeward cluster options log. -o json
    """
    with session.connect() as connection:
        found = [option for option in connection.cluster_options() if option.key.startswith(prefix)]
    rows = [{"option": o.key, "value": o.value, "source": o.source} for o in sorted(found, key=lambda o: o.key)]
    show_listing(rows, ["option", "value", "source"], output, "No option starts like that." if prefix else "None.")


@cluster.command("set")
@click.argument("changes", nargs=-1, metavar="[KEY=VALUE]…", callback=key_values)
@click.option("--reset", multiple=True, metavar="KEY", help="Give an option its default again.")
@on_server
def set_options(session: Session, changes: dict[str, str], reset: tuple[str, ...]) -> None:
    """Change options of the running cluster, all of them or none.

    \b
    Examples:
      lakeward cluster set log.retention.check-interval=1min
      lakeward cluster set --reset log.retention.check-interval
    """
    if not changes and not reset:
        raise click.UsageError("Say what to change: KEY=VALUE, or --reset KEY.")
    with session.connect() as connection:
        connection.set_cluster_options(set=changes, reset=reset)
    say(f"Changed: {', '.join([*changes, *reset])}.")
