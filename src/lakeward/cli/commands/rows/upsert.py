"""lakeward upsert: rows of files, or of stdin, into a primary key table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakeward.cli.files.sent_files import FileForm, file_options, send_file, tell_sums
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.parameters import TableName, names
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.cli.files.formats import RowFile
    from lakeward.client.blocking.sync_table import Table
    from lakeward.model.schema import Schema


@click.command()
@click.argument("table", type=TableName())
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE…", type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
@click.option(
    "--columns", callback=names, metavar="A,B", help="Write only these columns, the key among them; others stay."
)
@file_options
@output_option()
@on_server
def upsert(
    session: Session, table: str, files: tuple[str, ...], columns: tuple[str, ...], form: FileForm, output: str
) -> None:
    """Put rows of files into a table with a primary key; `-` is stdin.

    A row replaces the old one of its key as a whole, so a file must have all columns of the table. With --columns only
    those are written and the others keep their values; of those, what a file lacks becomes NULL. Files are CSV, JSON
    lines, Parquet or Arrow, read as by `lakeward append`.

    \b
    Examples:
      lakeward upsert shop.customers customers.csv
      lakeward upsert shop.customers cities.csv --columns id,city
      tail -f changes.jsonl | lakeward upsert shop.customers - --format json
    """
    from lakeward.cli.output.append_progress import AppendProgress

    opened = form.open(files)
    clock = SystemClock()
    started = clock.monotonic()
    total = 0
    with session.connect() as connection, AppendProgress() as progress:
        target = connection.table(table)
        for name, rows in opened:
            upserter = target.upserter(columns or None)
            schema = _read_schema(target)
            if not columns and not form.no_header:
                _check_complete(name, rows, schema, table)
            total += send_file(name, rows, schema, upserter, upserter.upsert, progress, target.path)
    tell_sums("Upserted {} into", table, total, clock.monotonic() - started, output)


def _read_schema(table: Table) -> Schema:
    """What files are read as: the table's columns but for those that the server fills."""
    schema = table.info.schema
    return schema.select([name for name in schema.names if name not in schema.auto_increment])


def _check_complete(name: str, rows: RowFile, schema: Schema, table: str) -> None:
    """Refuse a file that says nothing of a column: its values would be overwritten with NULL."""
    from lakeward.cli.files.bad_row import BadRowError

    try:
        present = rows.inferred_schema().names
    except BadRowError:
        return  # an empty file, which reading it will tell
    if missing := [column for column in schema.names if column not in present]:
        kept = ",".join(column for column in schema.names if column in present)
        raise Failure(
            f"{name} lacks column '{missing[0]}' of {table}, and a row replaces the old one of its key as a whole. To "
            f"write some columns and keep the others, say --columns {kept or 'A,B'}."
        )
