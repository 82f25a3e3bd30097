"""lakeward catalog: tables for engines that speak Iceberg's REST protocol."""

from __future__ import annotations

from typing import Literal

import click

from lakeward.cli.input.cluster_watch import watch_cluster
from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.lake_read import lake_place, lake_place_options
from lakeward.cli.input.libraries import libraries_of
from lakeward.cli.input.listening import certificate_options, web_options
from lakeward.cli.input.session import Session, on_server
from lakeward.options.kinds import DURATION, SIZE

_PORT_DEFAULT = 9181


@click.group(cls=Verbs)
def catalog() -> None:
    """Serve tables to engines that speak Iceberg's REST protocol."""


def _duration_s(_context: click.Context, option: click.Parameter, text: str) -> float:
    try:
        return int(DURATION.parse(text)) / 1000
    except ValueError as wrong:
        raise click.BadParameter(str(wrong), param=option) from None


def _bytes(_context: click.Context, option: click.Parameter, text: str) -> int:
    try:
        return int(SIZE.parse(text))
    except ValueError as wrong:
        raise click.BadParameter(str(wrong), param=option) from None


@catalog.command("serve")
@web_options(_PORT_DEFAULT, "readers")
@certificate_options
@click.option(
    "--refresh",
    "refresh_s",
    default="1 s",
    show_default=True,
    metavar="DURATION",
    callback=_duration_s,
    help="How old a table$now may be; it is not looked at more often.",
)
@click.option(
    "--keep",
    "keep_s",
    default="15 min",
    show_default=True,
    metavar="DURATION",
    callback=_duration_s,
    help="How long a reader may take over what it was told of a table$now.",
)
@click.option(
    "--life",
    "life_s",
    default="1 h",
    show_default=True,
    metavar="DURATION",
    callback=_duration_s,
    help="The age at which files of a table$now are written again; a killed server's go after this and --keep.",
)
@click.option(
    "--key-memory",
    "keys_bytes",
    default="256 mb",
    show_default=True,
    metavar="SIZE",
    callback=_bytes,
    help="What is kept in memory of primary keys, of all tables; what does not fit is read again.",
)
@click.option(
    "--others",
    type=click.Choice(["none", "read", "write"]),
    default="none",
    show_default=True,
    help="Also serve tables of the lake that the cluster does not know; `write`: create, change and drop such tables.",
)
@click.option(
    "--for",
    "others_for",
    multiple=True,
    metavar="USER",
    help="Who may see tables of --others, where the cluster asks for a login.",
)
@lake_place_options
@on_server
def serve(
    session: Session,
    port: int,
    bind: str,
    names: tuple[str, ...],
    certificate_file: str | None,
    key_file: str | None,
    refresh_s: float,
    keep_s: float,
    life_s: float,
    keys_bytes: int,
    others: Literal["none", "read", "write"],
    others_for: tuple[str, ...],
    warehouse: str | None,
    properties: dict[str, str],
) -> None:
    """Be an Iceberg REST catalog of a cluster's tables, hot and cold as one.

    `db.table` is what the lake has. `db.table$now`, or `table` in the namespace `now.db`, is the same with every row
    that came since, as a snapshot which is made when it is asked for and never committed. Where the cluster asks for a
    login, so does the catalog (OAuth2, client credentials): each reader has the rights of their own user.

    \b
    Examples:
      lakeward catalog serve
      lakeward catalog serve --warehouse lake --keep 1h
      lakeward catalog serve --warehouse lake --others write
      lakeward catalog serve --bind 0.0.0.0 --name lake.example.org --certificate cert.pem --key key.pem
    """
    with libraries_of("The catalog", "console,iceberg"):
        from lakeward.rest.now.now_table import NowSettings
        from lakeward.rest.server import run_catalog
        from lakeward.rest.settings import RestSettings
    settings = RestSettings(
        bootstrap=session.server,
        options=session.credentials.options(),
        lake=lake_place(warehouse, properties),
        bind=bind,
        port=port,
        names=names,
        certificate_file=certificate_file,
        key_file=key_file,
        others=others,
        others_for=frozenset(others_for),
        now=NowSettings(refresh_s, keep_s, life_s, keys_bytes),
    )
    watch_cluster(session)
    run_catalog(settings, click.echo)
