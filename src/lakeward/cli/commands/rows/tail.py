"""lakeward tail: the last rows of a table, and those that come after them."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import closing, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING

import click

from lakeward.cli.input.parameters import Place, TableName, names
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say
from lakeward.cli.output.pipe_reader import heard_hang_up

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.cli.output.row_output import RowOutput
    from lakeward.client.blocking.sync_table import Table

_LAST_ROWS = 10
_CHANGE_TYPE = "_change_type"


@click.command()
@click.argument("table", type=TableName())
@click.option("--from", "start", type=Place(), help=f"Where to begin: {Place().describe()}.")
@click.option(
    "-n", "--rows", type=click.IntRange(min=0), default=_LAST_ROWS, help="Rows to show first, without --from."
)
@click.option("--columns", callback=names, metavar="A,B", help="Only these columns, in this order.")
@click.option("--where", metavar="CONDITION", help="Only rows for which this holds, as in SQL. Needs the extra duckdb.")
@click.option("--limit", type=click.IntRange(min=1), help="Stop after this many rows.")
@click.option("--follow/--no-follow", default=True, help="Wait for more rows, or stop at the present end.")
@click.option(
    "--partition", "partitions", multiple=True, metavar="NAME", help="Only this partition, by name or as column=value."
)
@click.option("--metadata", is_flag=True, help="Show bucket, offset, time of writing and kind of change too.")
@click.option("--skip-damaged", is_flag=True, help="Leave out rows that cannot be read, and say which.")
@output_option("table", "json", "csv")
@on_server
def tail(
    session: Session,
    table: str,
    start: str | int | datetime | None,
    rows: int,
    columns: tuple[str, ...],
    where: str | None,
    limit: int | None,
    follow: bool,
    partitions: tuple[str, ...],
    metadata: bool,
    skip_damaged: bool,
    output: str,
) -> None:
    """Show the last rows of a table and follow it, like tail -f; Ctrl-C ends it.

    Rows of one bucket come in the order in which they were written. Of a table with a primary key these are its
    changes: before each row stands what happened to it, in _change_type. Its rows as they are now: `lakeward dump`.

    \b
    Examples:
      lakeward tail shop.orders
      lakeward tail shop.orders --from 15m-ago --columns id,price
      lakeward tail shop.orders --where "price > 100" --columns id,price
      lakeward tail shop.orders --from earliest --no-follow -o json | jq .price
      lakeward tail shop.orders --from earliest --limit 1000 -o csv > orders.csv
    """
    from lakeward.cli.output.log_ends import partition_names

    with session.connect() as connection:
        opened = connection.table(table)
        tells_kind = opened.info.descriptor.has_primary_key and not metadata
        reading = Reading(
            opened,
            columns=None if where else columns or None,
            partitions=partition_names(opened, partitions),
            metadata=metadata or tells_kind,
            limit=None if where else limit,
            follow=follow,
            skip_damaged=skip_damaged,
        )
        batches = in_words(reading.last(rows) if start is None else reading.since(start))
        if where is not None:
            from lakeward.cli.input.row_filter import matching

            batches = matching(batches, where, columns, limit)
        if tells_kind:
            batches = kind_first(batches, metadata=False)
        try:
            shown = show(batches, output, streams=follow)
        except KeyboardInterrupt:
            return  # how a person says that it is enough
        if not shown and output == "table":
            say(f"{opened.path} has no such rows.")


def show(batches: Generator[pa.RecordBatch | pa.Table, None, None], kind: str, *, streams: bool) -> int:
    """Write batches to stdout until they end; how many rows there were."""
    from lakeward.cli.output.row_output import row_output

    written: RowOutput | None = None
    rows = 0
    hears = heard_hang_up() if streams else nullcontext()
    with hears, closing(batches):  # before the connection is closed, not when the garbage is collected
        for batch in batches:
            if written is None:
                written = row_output(kind, batch.schema, streams=streams)
            written.write(batch)
            rows += batch.num_rows
    return rows


def in_words(
    batches: Generator[pa.RecordBatch | pa.Table, None, None],
) -> Generator[pa.RecordBatch | pa.Table, None, None]:
    """The same with kinds of changes as Spark and Flink call them; those who follow the log know them by signs."""
    import pyarrow as pa

    from lakeward.query.read.view_rows import CHANGE_WORDS

    with closing(batches):
        for batch in batches:
            place = batch.schema.get_field_index(_CHANGE_TYPE)
            if place >= 0:
                words = pa.array([CHANGE_WORDS[sign] for sign in batch.column(place).to_pylist()], pa.string())
                batch = batch.set_column(place, _CHANGE_TYPE, words)
            yield batch


def kind_first(
    batches: Generator[pa.RecordBatch | pa.Table, None, None], *, metadata: bool
) -> Generator[pa.RecordBatch | pa.Table, None, None]:
    """The kind of change, the last column of a scan, before the row, where it is read first."""
    from lakeward.cli.output.log_ends import METADATA

    with closing(batches):
        for batch in batches:
            last = batch.num_columns - 1
            yield batch.select([last, *range(last if metadata else batch.num_columns - len(METADATA))])


class Reading:
    """What `tail` was asked to read of a table."""

    def __init__(
        self,
        table: Table,
        *,
        columns: tuple[str, ...] | None = None,
        partitions: list[str] | None = None,
        metadata: bool = False,
        limit: int | None = None,
        follow: bool = True,
        skip_damaged: bool = False,
    ) -> None:
        self._table = table
        self._skip_damaged = skip_damaged
        self._columns = columns
        self._partitions = partitions
        self._metadata = metadata
        self._limit = limit
        self._follow = follow

    def last(self, n: int) -> Generator[pa.RecordBatch | pa.Table, None, None]:
        """The last `n` rows, then what comes after them."""
        from lakeward.cli.output.log_ends import LogEnds

        ends = LogEnds(self._table, self._partitions, skip_damaged=self._skip_damaged)
        wanted = n if self._limit is None else min(n, self._limit)
        first = ends.last_rows(wanted, self._columns, metadata=self._metadata)
        yield first
        if self._follow and (self._limit is None or first.num_rows < self._limit):
            left = None if self._limit is None else self._limit - first.num_rows
            if not first.num_rows and sys.stderr.isatty():
                say(f"{self._table.path} has no rows yet; waiting for them, Ctrl-C ends.")
            yield from self._scan(dict(ends.latest), left)

    def since(self, start: str | int | datetime) -> Generator[pa.RecordBatch | pa.Table, None, None]:
        """The rows from a place on."""
        from lakeward.cli.output.log_ends import LogEnds

        at = LogEnds(self._table, self._partitions).clamp(start) if isinstance(start, int) else start
        yield from self._scan(at, self._limit)

    def _scan(self, start: object, limit: int | None) -> Iterator[pa.RecordBatch]:
        scan = self._table.scan(
            self._columns,
            start=start,
            end=None if self._follow else "latest",
            limit=limit,
            partitions=self._partitions,
            metadata_columns=self._metadata,
            skip_damaged=self._skip_damaged,
        )
        return scan.follow() if self._follow else scan.batches()
