"""lakeward head: the oldest rows of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from lakeward.cli.commands.rows.dump import rows_now
from lakeward.cli.input.parameters import TableName, names
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.blocking.sync_table import Table


@click.command()
@click.argument("table", type=TableName())
@click.option("-n", "--rows", type=click.IntRange(min=0), default=10, show_default=True, help="How many rows.")
@click.option("--columns", callback=names, metavar="A,B", help="Only these columns, in this order.")
@click.option(
    "--partition", "partitions", multiple=True, metavar="NAME", help="Only this partition, by name or as column=value."
)
@click.option("--metadata", is_flag=True, help="Show bucket, offset, time of writing and kind of change too.")
@output_option("table", "json", "csv")
@on_server
def head(
    session: Session,
    table: str,
    rows: int,
    columns: tuple[str, ...],
    partitions: tuple[str, ...],
    metadata: bool,
    output: str,
) -> None:
    """Show the oldest rows of a table; with a primary key, some of its rows as they are now.

    With --metadata the oldest changes of a table with a primary key are shown, each with its kind.

    \b
    Examples:
      lakeward head shop.orders
      lakeward head shop.orders -n 100 --columns id,price -o csv
    """
    from lakeward.cli.output.log_ends import LogEnds, partition_names
    from lakeward.cli.output.row_output import row_output

    with session.connect() as connection:
        opened = connection.table(table)
        chosen = partition_names(opened, partitions)
        if opened.info.descriptor.has_primary_key and not metadata:
            found = _in_one(opened, columns, rows_now(opened, columns or None, chosen, rows))
        else:
            found = LogEnds(opened, chosen).first_rows(rows, columns or None, metadata=metadata)
    if output == "table" and not found.num_rows:
        say(f"{opened.path} has no rows.")
        return
    row_output(output, found.schema).write(found)


def _in_one(table: Table, columns: tuple[str, ...], batches: Iterable[pa.RecordBatch]) -> pa.Table:
    import pyarrow as pa

    from lakeward.records.arrow.arrow_types import arrow_schema

    schema = table.info.schema
    return pa.Table.from_batches(batches, arrow_schema(schema.select(columns or schema.names)))
