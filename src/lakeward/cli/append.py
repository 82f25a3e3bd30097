"""lakeward append: rows of files, or of stdin, into a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from lakeward.cli.failures import Failure
from lakeward.cli.files.formats import FORMATS, format_of, open_rows
from lakeward.cli.files.source import STDIN
from lakeward.cli.listing import count, output_option, said, show_json
from lakeward.cli.parameters import TableName
from lakeward.cli.session import Session, on_server
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.cli.append_progress import AppendProgress
    from lakeward.cli.files.formats import RowFile
    from lakeward.client.sync import Connection
    from lakeward.client.sync_table import Table


@click.command()
@click.argument("table", type=TableName())
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE…", type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
@click.option("--format", "told", type=click.Choice(FORMATS), help="How to read; from the file's name without it.")
@click.option("--create", is_flag=True, help="Create the table with the columns of the first file, if there is none.")
@click.option("--delimiter", metavar="CHAR", help="What separates the fields of a CSV file.")
@click.option("--no-header", is_flag=True, help="A CSV file has no line of names; its fields are in the table's order.")
@output_option()
@on_server
def append(
    session: Session,
    table: str,
    files: tuple[str, ...],
    told: str | None,
    create: bool,
    delimiter: str | None,
    no_header: bool,
    output: str,
) -> None:
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
    if delimiter is not None and len(delimiter) != 1:
        raise click.UsageError(f"{delimiter!r} is not one character; for tabs say --format tsv.")
    for path in files:
        format_of(path, told)  # a name that tells nothing is better found before the first file is sent
    opened = (open_rows(path, told, delimiter=delimiter, has_header=not no_header) for path in files)
    clock = SystemClock()
    started = clock.monotonic()
    with session.connect() as connection:
        rows = _append_all(connection, table, zip(files, opened, strict=True), create)
    seconds = clock.monotonic() - started
    if output == "json":
        show_json({"table": table, "rows": rows, "seconds": round(seconds, 3)})
    else:
        rate = "" if rows < 1000 else f" in {seconds:.1f} s ({rows / seconds:,.0f} rows/s)"
        click.echo(f"Appended {count(rows, 'row')} to {table}{rate}.")


def _append_all(connection: Connection, target: str, files: Iterable[tuple[str, RowFile]], create: bool) -> int:
    """Append one file after the other; each is opened when its turn comes."""
    from lakeward.cli.append_progress import AppendProgress

    total = 0
    table: Table | None = None
    with AppendProgress() as progress:
        for path, rows in files:
            if table is None:
                if create and not connection.has_table(target):
                    connection.create_table(target, rows.inferred_schema(), exist_ok=True)
                table = connection.table(target)
            total += _append_one(table, "stdin" if path == STDIN else path, rows, progress)
    return total


def _append_one(table: Table, name: str, rows: RowFile, progress: AppendProgress) -> int:
    """Append a file; what was acknowledged when something went wrong is part of the message."""
    from lakeward.cli.files.bad_row import BadRowError

    bad: BadRowError | None = None
    writer = table.writer()
    try:
        with writer:
            progress.start(name)
            try:
                for batch in rows.batches(table.info.schema):
                    writer.write(batch)
                    progress.move(rows.progress(), writer.written)
            except BadRowError as wrong:
                bad = wrong  # rows before it are still under way, and wanted
    except KeyboardInterrupt:
        said(f"\nStopped. Acknowledged: {count(writer.written, 'row')} of {name}.")
        raise
    if bad is not None:
        before = count(writer.written, "row")
        raise Failure(f"{bad.message}.\n{before} before it went into {table.path}; nothing after it was sent.")
    return writer.written
