"""Rows of files on their way into a table: how they are read, how far they are, what is said at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.files.formats import FORMATS, format_of, open_rows
from lakeward.cli.files.source import STDIN
from lakeward.cli.input.failures import Failure
from lakeward.cli.output.listing import count, say, show_json

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.cli.files.formats import RowFile
    from lakeward.cli.output.append_progress import AppendProgress
    from lakeward.client.blocking.sync_writers import Upserter, Writer
    from lakeward.model.schema import Schema


@dataclass(frozen=True, slots=True)
class FileForm:
    """How files are to be read, where their names do not tell."""

    told: str | None
    delimiter: str | None
    no_header: bool

    def open(self, files: Sequence[str]) -> Iterator[tuple[str, RowFile]]:
        """Names and rows; each file is opened when its turn comes, but their formats are found out now."""
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise click.UsageError(f"{self.delimiter!r} is not one character; for tabs say --format tsv.")
        for path in files:
            format_of(path, self.told)  # a name that tells nothing is better found before the first file is sent
        return ((_name(path), self._open(path)) for path in files)

    def _open(self, path: str) -> RowFile:
        return open_rows(path, self.told, delimiter=self.delimiter, has_header=not self.no_header)


def _name(path: str) -> str:
    return "stdin" if path == STDIN else path


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--format`, `--delimiter` and `--no-header`, together as the argument `form`."""

    @click.option("--format", "told", type=click.Choice(FORMATS), help="How to read; from the file's name without it.")
    @click.option("--delimiter", metavar="CHAR", help="What separates the fields of a CSV file.")
    @click.option(
        "--no-header", is_flag=True, help="A CSV file has no line of names; its fields are in the table's order."
    )
    @wraps(command)
    def with_form(*args: Any, told: str | None, delimiter: str | None, no_header: bool, **options: Any) -> Any:
        return command(*args, form=FileForm(told, delimiter, no_header), **options)

    return with_form


def send_file(
    name: str,
    rows: RowFile,
    schema: Schema,
    writer: Writer | Upserter,
    write: Callable[[pa.RecordBatch], None],
    progress: AppendProgress,
    table: object,
) -> int:
    """Send a file; what was acknowledged when something went wrong is part of the message."""
    from lakeward.cli.files.bad_row import BadRowError
    from lakeward.client.blocking.sync_writers import Upserter

    bad: BadRowError | None = None
    try:
        with writer:
            progress.start(name)
            try:
                for batch in rows.batches(schema):
                    write(batch)
                    progress.move(rows.progress(), writer.written)
            except BadRowError as wrong:
                bad = wrong  # rows before it are still under way, and wanted
    except KeyboardInterrupt:
        say(f"\nStopped. Acknowledged: {count(writer.written, 'row')} of {name}.")
        raise
    if bad is not None:
        before = count(writer.written, "row")
        twice = f"\nSent again as a whole, {name} would be in {table} twice: leave its first {before} out."
        is_told = writer.written and not isinstance(writer, Upserter)
        went = f"{before} before it went into {table}; nothing after it was sent."
        raise Failure(f"{bad.message}.\n{went}{twice if is_told else ''}")
    if not writer.written:
        is_empty = Path(name).is_file() and not Path(name).stat().st_size
        say(f"{name} {'is empty' if is_empty else 'has no rows'}.")
    return writer.written


def tell_sums(done: str, table: str, rows: int, seconds: float, output: str) -> None:
    """Say what was sent, e.g. `Appended 5 rows to shop.orders.`"""
    if output == "json":
        show_json({"table": table, "rows": rows, "seconds": round(seconds, 3)})
    else:
        rate = "" if rows < 1000 else f" in {seconds:.1f} s ({rows / seconds:,.0f} rows/s)"
        click.echo(f"{done.format(count(rows, 'row'))} {table}{rate}.")
