"""lakeward databases: list, create, describe, drop."""

from __future__ import annotations

from typing import Any

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.parameters import DatabaseName, confirm
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import moment, output_option, say, show_facts, show_json, show_listing


@click.group(cls=Verbs)
def databases() -> None:
    """List, create, describe and drop databases."""


@databases.command("list")
@output_option()
@on_server
def list_databases(session: Session, output: str) -> None:
    """List the databases.

    \b
    Examples:
      lakeward databases list
      lakeward databases list -o json
    """
    with session.connect() as connection:
        names = connection.databases()
    show_listing([{"database": name} for name in names], ["database"], output, "There are no databases.")


@databases.command("create")
@click.argument("name")
@click.option("--comment", help="What the database is for.")
@click.option(
    "-p", "--property", "properties", multiple=True, metavar="KEY=VALUE", callback=key_values, help="A property."
)
@click.option("--if-not-exists", is_flag=True, help="Do nothing when the database is there already.")
@on_server
def create_database(
    session: Session, name: str, comment: str | None, properties: dict[str, str], if_not_exists: bool
) -> None:
    """Create a database.

    \b
    Examples:
      lakeward databases create shop
      lakeward databases create shop --comment "orders and clicks" --if-not-exists
    """
    with session.connect() as connection:
        connection.create_database(name, comment=comment, properties=properties, exist_ok=if_not_exists)
    say(f"Database {name} is there." if if_not_exists else f"Created database {name}.")


@databases.command("describe")
@click.argument("name", type=DatabaseName())
@output_option()
@on_server
def describe_database(session: Session, name: str, output: str) -> None:
    """Show a database and its tables.

    \b
    Example:
      lakeward databases describe shop
    """
    with session.connect() as connection:
        info = connection.database(name)
        tables = connection.tables(name)
    facts: dict[str, Any] = {
        "database": info.name,
        "comment": info.comment,
        "created": moment(info.created_ms),
        "modified": moment(info.modified_ms),
    }
    if output == "json":
        show_json({**facts, "properties": dict(info.properties), "tables": tables})
        return
    properties = ", ".join(f"{key}={value}" for key, value in info.properties.items())
    show_facts({**facts, "properties": properties, "tables": ", ".join(tables) or "none"})


@databases.command("drop")
@click.argument("name", type=DatabaseName())
@click.option("--cascade", is_flag=True, help="Drop the tables in it too, with all their rows.")
@click.option("--if-exists", is_flag=True, help="Do nothing when there is no such database.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@on_server
def drop_database(session: Session, name: str, cascade: bool, if_exists: bool, yes: bool) -> None:
    """Drop a database; one with tables in it only with --cascade.

    \b
    Examples:
      lakeward databases drop shop
      lakeward databases drop shop --cascade --yes
    """
    if cascade:
        confirm(f"Drop database {name} with all its tables?", yes)
    with session.connect() as connection:
        connection.drop_database(name, cascade=cascade, missing_ok=if_exists)
    say(f"Database {name} is gone.")
