"""lakeward sql serve: tables behind Postgres's protocol, Arrow Flight SQL and a service that plans."""

from __future__ import annotations

from pathlib import Path

import click

from lakeward.cli.input.cluster_watch import watch_cluster
from lakeward.cli.input.lake_read import lake_place, lake_place_options
from lakeward.cli.input.libraries import libraries_of
from lakeward.cli.input.listening import bind_option, certificate_options
from lakeward.cli.input.session import Session, on_server

_DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)
_PORT = click.IntRange(-1, 65535)
_MB = 1 << 20


@click.command("serve")
@bind_option
@click.option("--postgres-port", type=_PORT, default=9182, show_default=True, help="For psql; 0 any, -1 none.")
@click.option("--flight-port", type=_PORT, default=9183, show_default=True, help="For Flight SQL; 0 any, -1 none.")
@click.option("--http-port", type=_PORT, default=9184, show_default=True, help="For POST /v1/plan; 0 any, -1 none.")
@certificate_options
@click.option("--users-from", type=_DIRECTORY, help="Data directory of the cluster: passwords are proven, not sent.")
@click.option("--queries", type=click.IntRange(1, 256), default=4, show_default=True, help="Answered side by side.")
@click.option("--query-memory", type=click.IntRange(64), default=1024, show_default=True, help="Of each, in MB.")
@click.option("--time-limit", type=click.FloatRange(min=1), default=300.0, show_default=True, help="Of each, in s.")
@lake_place_options
@on_server
def sql_serve(
    session: Session,
    bind: str,
    postgres_port: int,
    flight_port: int,
    http_port: int,
    certificate_file: str | None,
    key_file: str | None,
    users_from: Path | None,
    queries: int,
    query_memory: int,
    time_limit: float,
    warehouse: str | None,
    properties: dict[str, str],
) -> None:
    """Answer questions of psql, BI tools, ADBC and JDBC: lake and log as one, by DuckDB, read-only.

    Where the cluster asks for a login, so does this server: each person has the rights of their own user. With --user,
    it acts as that one for everybody who reaches it, so it then listens on this machine only.

    \b
    Examples:
      lakeward sql serve
      lakeward sql serve --server db.example.org:9123 --warehouse ./lake
      lakeward sql serve --bind 0.0.0.0 --certificate cert.pem --key key.pem --users-from data
    """
    with libraries_of("The SQL server", "sql"):
        from lakeward.sql_server.frame.settings import SqlServerSettings
        from lakeward.sql_server.server import run_sql_server
    settings = SqlServerSettings(
        bootstrap=session.server,
        options=session.credentials.options(),
        lake=lake_place(warehouse, properties),
        bind=bind,
        postgres_port=None if postgres_port < 0 else postgres_port,
        flight_port=None if flight_port < 0 else flight_port,
        http_port=None if http_port < 0 else http_port,
        certificate_file=certificate_file,
        key_file=key_file,
        users_from=None if users_from is None else str(users_from),
        questions_max=queries,
        memory_bytes=query_memory * _MB,
        time_limit_s=time_limit,
    )
    watch_cluster(session)
    run_sql_server(settings, click.echo)
