"""lakeward append: rows of files, or of stdin, into a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from lakeward.cli.files.sent_files import FileForm, file_options, send_file, tell_sums
from lakeward.cli.input.parameters import TableName
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option
from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.cli.files.formats import RowFile
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table


@click.command()
@click.argument("table", type=TableName())
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE…", type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
@click.option("--create", is_flag=True, help="Create the table with the columns of the first file, if there is none.")
@file_options
@output_option()
@on_server
def append(session: Session, table: str, files: tuple[str, ...], create: bool, form: FileForm, output: str) -> None:
    """Append rows from CSV, JSON lines, Parquet or Arrow files to a table; `-` is stdin.

    Columns are matched by name; those a file lacks become NULL. Values are read as the table's types: times as
    2026-08-01 12:00:00.123, bytes as base64, nested values as JSON. An empty CSV field is NULL, "" is an empty text.
    Files ending in .gz, .bz2, .zst or .lz4 are unpacked. Rows of a pipe are sent as they come. The first row that does
    not fit is reported with its file and line; the rows before it are appended, nothing after it is.

    \b
    Examples:
      lakeward append shop.orders orders.csv
      lakeward append shop.orders 2026-*.parquet --create
      tail -f orders.jsonl | lakeward append shop.orders - --format json
    """
    opened = form.open(files)
    clock = SystemClock()
    started = clock.monotonic()
    with session.connect() as connection:
        rows = _append_all(connection, table, opened, create)
    tell_sums("Appended {} to", table, rows, clock.monotonic() - started, output)


def _open_table(connection: Connection, target: str) -> Table:
    try:
        return connection.table(target)
    except LakewardError as wrong:
        if wrong.code is ErrorCode.TABLE_NOT_EXIST:
            _check_database(connection, target)
            raise wrong.code.error(f"{wrong.message} --create makes it, with the columns of the file.") from wrong
        raise


def _check_database(connection: Connection, target: str) -> None:
    database = target.partition(".")[0] if "." in target else "fluss"
    if database not in connection.databases():
        raise ErrorCode.DATABASE_NOT_EXIST.error(
            f"Database {database} does not exist; `lakeward databases create {database}` makes it."
        )


def _append_all(connection: Connection, target: str, files: Iterable[tuple[str, RowFile]], create: bool) -> int:
    """Append one file after the other."""
    from lakeward.cli.output.append_progress import AppendProgress

    total = 0
    table: Table | None = None
    with AppendProgress() as progress:
        for name, rows in files:
            if table is None:
                if create and not connection.has_table(target):
                    _check_database(connection, target)
                    connection.create_table(target, rows.inferred_schema(), exist_ok=True)
                table = _open_table(connection, target)
            writer = table.writer()
            total += send_file(name, rows, table.info.schema, writer, writer.write, progress, table.path)
    return total
