"""lakeward console: the cluster in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from lakeward.cli.input.cluster_watch import watch_cluster
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.lake_read import lake_place, lake_place_options
from lakeward.cli.input.session import Session, on_server

_PORT_DEFAULT = 9180
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT_DEFAULT,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--bind", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option("--name", "names", multiple=True, metavar="HOST", help="Another name under which browsers reach it.")
@click.option("--read-only", is_flag=True, help="Show everything, change nothing.")
@click.option("--certificate", type=_FILE, help="Certificate to encrypt with, as PEM.")
@click.option("--key", type=_FILE, help="Its key, if that is another file.")
@lake_place_options
@on_server
def console(
    session: Session,
    port: int,
    bind: str,
    names: tuple[str, ...],
    read_only: bool,
    certificate: Path | None,
    key: Path | None,
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
    try:
        from lakeward.console.frame.settings import ConsoleSettings
        from lakeward.console.server import run_console
    except ModuleNotFoundError as missing:
        if missing.name is not None and missing.name.startswith("lakeward"):
            raise
        raise Failure(
            f"The console needs libraries that are not installed ({missing.name}): pip install 'lakeward[console]'."
        ) from None
    settings = ConsoleSettings(
        bootstrap=session.server,
        options=session.credentials.options(),
        lake=lake_place(warehouse, properties),
        bind=bind,
        port=port,
        names=names,
        read_only=read_only,
        certificate_file=None if certificate is None else str(certificate),
        key_file=None if key is None else str(key),
    )
    watch_cluster(session)
    run_console(settings, click.echo)
