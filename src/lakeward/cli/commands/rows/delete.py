"""lakeward delete: rows of a primary key table, by their keys."""

from __future__ import annotations

import click

from lakeward.cli.files.sent_files import FileForm, file_options
from lakeward.cli.input.parameters import TableName, confirm, names
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, output_option, show_json


@click.command()
@click.argument("table", type=TableName())
@click.argument("keys", nargs=-1, metavar="[KEY…]")
@click.option(
    "--from",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Keys from a file; - is stdin.",
)
@click.option("--columns", callback=names, metavar="A,B", help="Set only these columns to NULL, the key among them.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@file_options
@output_option()
@on_server
def delete(
    session: Session,
    table: str,
    keys: tuple[str, ...],
    files: tuple[str, ...],
    columns: tuple[str, ...],
    yes: bool,
    form: FileForm,
    output: str,
) -> None:
    """Delete rows of a table with a primary key. A key that has no row is no error.

    A key is a value, or column=value,… where the key has several columns, or JSON. Files are read as by
    `lakeward append`; they need the key's columns, others are left aside.

    \b
    Examples:
      lakeward delete shop.customers 17 18
      lakeward delete shop.visits day=2026-08-01,customer=17 --yes
      lakeward delete shop.customers --from gone.csv
    """
    from lakeward.cli.files.key_texts import given_keys

    with session.connect() as connection:
        opened = connection.table(table)
        schema = opened.info.schema
        with opened.upserter(columns or None) as upserter:
            given = given_keys(keys, files, form, [schema.column(name) for name in schema.primary_key])
            confirm(f"Delete {count(given.num_rows, 'key')} of {table}?", yes)
            upserter.delete(given)
    if output == "json":
        show_json({"table": table, "keys": upserter.written})
    else:
        click.echo(f"Sent {count(upserter.written, 'delete')} to {table}.")
