"""lakeward dump: all rows of a table as they are now."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import click

from lakeward.cli.commands.rows.tail import show
from lakeward.cli.input.parameters import TableName, names
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.blocking.sync_table import Table


@click.command()
@click.argument("table", type=TableName())
@click.option("--columns", callback=names, metavar="A,B", help="Only these columns, in this order.")
@click.option("--limit", type=click.IntRange(min=1), help="Stop after this many rows.")
@click.option(
    "--partition", "partitions", multiple=True, metavar="NAME", help="Only this partition, by name or as column=value."
)
@output_option("table", "json", "csv")
@on_server
def dump(
    session: Session,
    table: str,
    columns: tuple[str, ...],
    limit: int | None,
    partitions: tuple[str, ...],
    output: str,
) -> None:
    """Print all rows of a table as they are now.

    With a primary key that is the latest row of each key, without one all rows there are. They come by bucket, in
    no particular order. What is printed as CSV or JSON can be upserted or appended again.

    \b
    Examples:
      lakeward dump shop.customers
      lakeward dump shop.customers --columns id,city -o csv > customers.csv
      lakeward dump shop.visits --partition day=2026-08-01 -o json
    """
    from lakeward.cli.output.log_ends import partition_names

    with session.connect() as connection:
        opened = connection.table(table)
        batches = rows_now(opened, columns or None, partition_names(opened, partitions), limit)
        try:
            shown = show(batches, output, streams=False)
        except KeyboardInterrupt:
            return  # how a person says that it is enough
    if not shown and output == "table":
        say(f"{table} has no rows.")


def rows_now(
    table: Table, columns: tuple[str, ...] | None, partitions: list[str] | None, limit: int | None
) -> Generator[pa.RecordBatch, None, None]:
    """The rows of a table as they are now, at most this many."""
    if not table.info.descriptor.has_primary_key:
        yield from table.scan(columns, partitions=partitions, limit=limit).batches()
        return
    left = limit
    for batch in table.snapshot_batches(columns, partitions=partitions):
        if left is not None and batch.num_rows >= left:
            yield batch.slice(0, left)
            return
        yield batch
        if left is not None:
            left -= batch.num_rows
