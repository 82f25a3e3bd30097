"""lakeward console: the cluster in a browser."""

from __future__ import annotations

import click

from lakeward.cli.input.cluster_watch import watch_cluster
from lakeward.cli.input.lake_read import lake_place, lake_place_options
from lakeward.cli.input.libraries import libraries_of
from lakeward.cli.input.listening import certificate_options, web_options
from lakeward.cli.input.session import Session, on_server

_PORT_DEFAULT = 9180


@click.command()
@web_options(_PORT_DEFAULT, "browsers")
@click.option("--read-only", is_flag=True, help="Show everything, change nothing.")
@certificate_options
@lake_place_options
@on_server
def console(
    session: Session,
    port: int,
    bind: str,
    names: tuple[str, ...],
    read_only: bool,
    certificate_file: str | None,
    key_file: str | None,
    warehouse: str | None,
    properties: dict[str, str],
) -> None:
    """Show a cluster in a browser: health, tables, rows, the lake, SQL.

    Where the cluster asks for a login, so does the console: each person has the rights of their own user. With --user,
    it acts as that one for everybody who reaches it, so it then listens on this machine only.

    \b
    Examples:
      lakeward console
      lakeward console --server db.example.org:9123 --read-only
      lakeward console --bind 0.0.0.0 --name console.example.org --certificate cert.pem --key key.pem
    """
    with libraries_of("The console", "console"):
        from lakeward.console.frame.settings import ConsoleSettings
        from lakeward.console.server import run_console
    settings = ConsoleSettings(
        bootstrap=session.server,
        options=session.credentials.options(),
        lake=lake_place(warehouse, properties),
        bind=bind,
        port=port,
        names=names,
        read_only=read_only,
        certificate_file=certificate_file,
        key_file=key_file,
    )
    watch_cluster(session)
    run_console(settings, click.echo)
