"""lakeward lookup: rows of a primary key table, by their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakeward.cli.files.sent_files import FileForm, file_options
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.parameters import TableName, names
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, output_option, say

if TYPE_CHECKING:
    from lakeward.client.tables.keyed_rows import Missing


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
@click.option("--columns", callback=names, metavar="A,B", help="Only these columns, in this order.")
@click.option("--prefix", is_flag=True, help="The keys are the first columns of keys: the table's bucket key.")
@click.option(
    "--missing",
    type=click.Choice(["drop", "null", "raise"]),
    default="drop",
    show_default=True,
    help="Of keys without a row: print nothing, print an empty row, or fail.",
)
@file_options
@output_option("table", "json", "csv")
@on_server
def lookup(
    session: Session,
    table: str,
    keys: tuple[str, ...],
    files: tuple[str, ...],
    columns: tuple[str, ...],
    prefix: bool,
    missing: Missing,
    form: FileForm,
    output: str,
) -> None:
    """Show the rows of keys, in the order of the keys.

    A key is a value, or column=value,… where the key has several columns, or JSON. Files are read as by
    `lakeward append`; they need the key's columns, others are left aside.

    \b
    Examples:
      lakeward lookup shop.customers 17 18
      lakeward lookup shop.visits day=2026-08-01,customer=17 -o json
      lakeward lookup shop.visits 17 --prefix
      lakeward lookup shop.customers --from orders.csv --columns id,city -o csv
    """
    from lakeward.cli.files.key_texts import given_keys
    from lakeward.cli.output.row_output import row_output

    with session.connect() as connection:
        opened = connection.table(table)
        descriptor = opened.info.descriptor
        if not descriptor.has_primary_key:
            raise Failure(f"{table} has no primary key, so no row is found by key; see them with `lakeward dump`.")
        named = (*descriptor.partition_keys, *descriptor.bucket_keys) if prefix else descriptor.schema.primary_key
        asked = [descriptor.schema.column(name) for name in named]
        given = given_keys(keys, files, form, asked)
        if prefix:
            found = opened.lookup_prefix(given, columns or None)
        else:
            found = opened.lookup(given, columns or None, missing=missing)
    lacking = 0 if prefix else given.num_rows - found.num_rows
    if lacking:
        say(f"{count(lacking, 'key')} of {given.num_rows:,} without a row in {table}.")
    if found.num_rows or output != "table":
        row_output(output, found.schema).write(found)
    elif not lacking:
        say(f"{table} has no such rows.")
