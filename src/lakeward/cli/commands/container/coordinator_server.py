"""lakeward coordinator-server: the server, by the name that compose files of Apache Fluss know."""

from __future__ import annotations

from typing import Any

import click

from lakeward.cli.commands.server.serve import serve
from lakeward.cli.output.listing import say


@click.command("coordinator-server", params=serve.params)
@click.pass_context
def coordinator_server(context: click.Context, /, **given: Any) -> None:
    """Start a server, as `lakeward serve` does; compose files of Apache Fluss call it so.

    One Lakeward process is the coordinator and its tablet servers: what tables hold is kept here, below 'data.dir'.
    `coordinatorServer` is another name of it.

    \b
    Examples:
      lakeward coordinator-server
      FLUSS_PROPERTIES="bind.listeners: FLUSS://0.0.0.0:9123" lakeward coordinator-server
    """
    say("This process is coordinator and tablet server in one: it needs a volume for 'data.dir', and no ZooKeeper.")
    context.invoke(serve, **given)
