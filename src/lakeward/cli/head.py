"""lakeward head: the oldest rows of a table."""

from __future__ import annotations

import click

from lakeward.cli.listing import output_option, said
from lakeward.cli.parameters import TableName, names
from lakeward.cli.session import Session, on_server


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
    """Show the oldest rows of a table.

    \b
    Examples:
      lakeward head shop.orders
      lakeward head shop.orders -n 100 --columns id,price -o csv
    """
    from lakeward.cli.log_ends import LogEnds, partition_names
    from lakeward.cli.row_output import row_output

    with session.connect() as connection:
        opened = connection.table(table)
        ends = LogEnds(opened, partition_names(opened, partitions))
        found = ends.first_rows(rows, columns or None, metadata=metadata)
    if output == "table" and not found.num_rows:
        said(f"{opened.path} has no rows.")
        return
    row_output(output, found.schema).write(found)
