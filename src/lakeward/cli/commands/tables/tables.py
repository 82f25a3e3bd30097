"""lakeward tables: list, create, describe, alter, drop; advise and compact have files of their own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.commands.tables.advise import advise
from lakeward.cli.commands.tables.compact import compact
from lakeward.cli.files.formats import open_rows
from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.parameters import DatabaseName, TableName, confirm, names
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say, show_listing
from lakeward.errors import LakewardError
from lakeward.options.table import LAKE_ENABLED
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

_SCHEMA_HELP = "a column list as in SQL, or --from FILE"


@click.group(cls=Verbs)
def tables() -> None:
    """List, create, describe, alter and drop tables, and look after them.

    A table is named `database.table`; without a database it is in `fluss`.
    """


tables.add_command(advise)
tables.add_command(compact)


@tables.command("list")
@click.argument("database", required=False, type=DatabaseName())
@click.option("-l", "--long", "is_long", is_flag=True, help="Say more about each table.")
@click.option("--names", "names_only", is_flag=True, help="Say nothing but names, which is quickest.")
@output_option()
@on_server
def list_tables(session: Session, database: str | None, is_long: bool, names_only: bool, output: str) -> None:
    """List the tables of a database, or of all: what kind, how many rows, how many of them the lake lacks.

    \b
    Examples:
      lakeward tables list
      lakeward tables list shop --long
      lakeward tables list -o json | jq -r '.[].table'
      lakeward tables list --names
    """
    with session.connect() as connection:
        databases = connection.databases() if database is None else [database]
        paths = [f"{d}.{t}" for d in databases for t in connection.tables(d)]
        rows = [{"table": path} if names_only else _details(connection, path) for path in paths]
    more = ["columns", "primary_key", "partition_by", "buckets", "comment"] if is_long else []
    columns = ["table"] if names_only else ["table", "kind", "rows", "lake_lag", *more]
    show_listing(
        rows,
        columns,
        output,
        "There are no tables." if database is None else f"{database} has no tables.",
        numbers=("rows", "lake_lag"),
    )


def _details(connection: Connection, path: str) -> dict[str, Any]:
    from lakeward.tiering.watch.lag import lag_of

    table = connection.table(path)
    made = table.info.descriptor
    rows, lag = None, None
    with suppress(LakewardError):  # not every server can count every table, nor every store be reached
        rows = table.count()
        lag = lag_of(connection, table, SystemClock().now_ms()).rows if LAKE_ENABLED.read(made.properties) else None
    return {
        "table": path,
        "kind": "primary key" if made.has_primary_key else "log",
        "rows": rows,
        "lake_lag": lag,
        "columns": len(made.schema.columns),
        "primary_key": list(made.schema.primary_key),
        "partition_by": list(made.partition_keys),
        "buckets": made.bucket_count,
        "comment": made.comment,
    }


@tables.command("create")
@click.argument("table", type=TableName())
@click.argument("columns", required=False)
@click.option(
    "--from",
    "like_file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Take the columns from a Parquet, Arrow, CSV or JSON lines file.",
)
@click.option("--primary-key", callback=names, metavar="A,B", help="Columns by which rows are found and replaced.")
@click.option("--partition-by", callback=names, metavar="A,B", help="Columns whose values split the table.")
@click.option("--bucket-by", callback=names, metavar="A,B", help="Columns whose hash picks the bucket of a row.")
@click.option("--buckets", type=click.IntRange(min=1), help="How many buckets; the server's default without it.")
@click.option(
    "-p",
    "--property",
    "properties",
    multiple=True,
    metavar="KEY=VALUE",
    callback=key_values,
    help="A property of the table, such as table.log.ttl=1d.",
)
@click.option(
    "--custom",
    "custom_properties",
    multiple=True,
    metavar="KEY=VALUE",
    callback=key_values,
    help="A property of your own; kept, and not interpreted.",
)
@click.option("--comment", help="What the table is for.")
@click.option("--if-not-exists", is_flag=True, help="Do nothing when the table is there already.")
@on_server
def create_table(
    session: Session, table: str, columns: str | None, like_file: str | None, if_not_exists: bool, **rest: Any
) -> None:
    """Create a table from a column list as in SQL, or with the columns of a file.

    Types: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), CHAR(n), STRING, BINARY(n), BYTES,
    DATE, TIME, TIMESTAMP(p), TIMESTAMP_LTZ(p), ARRAY<t>, MAP<k, v>, ROW<name t, …>; each may be followed by NOT NULL
    and COMMENT 'text'.

    \b
    Examples:
      lakeward tables create shop.orders "id BIGINT, item STRING, at TIMESTAMP(3)"
      lakeward tables create shop.orders "id BIGINT, dt STRING, price DECIMAL(10, 2)" \\
          --buckets 4 --bucket-by id --partition-by dt -p table.log.ttl=1d
      lakeward tables create shop.users "id BIGINT, name STRING" --primary-key id
      lakeward tables create shop.clicks --from clicks.parquet
    """
    if (columns is None) == (like_file is None):
        raise click.UsageError(f"Give the columns once: {_SCHEMA_HELP}.")
    if columns is not None and not columns.strip():
        raise click.UsageError(f"There are no columns in it; give {_SCHEMA_HELP}.")
    schema: Any = columns
    if like_file is not None:
        schema = open_rows(like_file).inferred_schema()
    with session.connect() as connection:
        made = connection.create_table(table, schema, exist_ok=if_not_exists, **rest)
    say(f"Table {made.path} is there." if if_not_exists else f"Created table {made.path}.")


@tables.command("describe")
@click.argument("table", type=TableName())
@output_option()
@on_server
def describe_table(session: Session, table: str, output: str) -> None:
    """Show a table: columns, keys, buckets, properties, partitions, rows and offsets.

    \b
    Examples:
      lakeward tables describe shop.orders
      lakeward tables describe shop.orders -o json | jq .columns
    """
    from lakeward.cli.output.table_description import describe

    with session.connect() as connection:
        describe(connection.table(table), output)


@tables.command("alter")
@click.argument("table", type=TableName())
@click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", callback=key_values, help="Give a property a value."
)
@click.option("--reset", multiple=True, metavar="KEY", help="Give a property its default again.")
@click.option("--add-column", multiple=True, metavar="'NAME TYPE'", help="Add a column at the end; old rows have NULL.")
@on_server
def alter_table(
    session: Session, table: str, changes: Mapping[str, str], reset: tuple[str, ...], add_column: tuple[str, ...]
) -> None:
    """Change properties of a table, or add columns to it.

    \b
    Examples:
      lakeward tables alter shop.orders --set table.log.ttl=30d
      lakeward tables alter shop.orders --reset table.log.ttl
      lakeward tables alter shop.orders --add-column "coupon STRING COMMENT 'as typed'"
    """
    if not (changes or reset or add_column):
        raise click.UsageError("Say what to change: --set, --reset or --add-column.")
    with session.connect() as connection:
        connection.alter_table(table, set=changes, reset=reset, add_columns=", ".join(add_column) or None)
    say(f"Table {table} is changed.")


@tables.command("drop")
@click.argument("table", type=TableName())
@click.option("--if-exists", is_flag=True, help="Do nothing when there is no such table.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@on_server
def drop_table(session: Session, table: str, if_exists: bool, yes: bool) -> None:
    """Drop a table and all its rows.

    \b
    Examples:
      lakeward tables drop shop.orders
      lakeward tables drop shop.orders --if-exists --yes
    """
    confirm(f"Drop table {table} with all its rows?", yes)
    with session.connect() as connection:
        connection.drop_table(table, missing_ok=if_exists)
    say(f"Table {table} is gone.")
