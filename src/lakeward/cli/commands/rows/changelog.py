"""lakeward changelog: what changed in a primary key table, and what changes next."""

from __future__ import annotations

from datetime import datetime

import click

from lakeward.cli.commands.rows.tail import Reading, in_words, kind_first, show
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.parameters import Place, TableName, names
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say

_LAST_CHANGES = 10


@click.command()
@click.argument("table", type=TableName())
@click.option("--from", "start", type=Place(), help=f"Where to begin: {Place().describe()}.")
@click.option(
    "-n", "--rows", type=click.IntRange(min=0), default=_LAST_CHANGES, help="Changes to show first, without --from."
)
@click.option("--columns", callback=names, metavar="A,B", help="Only these columns, in this order.")
@click.option("--limit", type=click.IntRange(min=1), help="Stop after this many changes.")
@click.option("--follow/--no-follow", default=True, help="Wait for more changes, or stop at the present end.")
@click.option(
    "--partition", "partitions", multiple=True, metavar="NAME", help="Only this partition, by name or as column=value."
)
@output_option("table", "json", "csv")
@on_server
def changelog(
    session: Session,
    table: str,
    start: str | int | datetime | None,
    rows: int,
    columns: tuple[str, ...],
    limit: int | None,
    follow: bool,
    partitions: tuple[str, ...],
    output: str,
) -> None:
    """Show the last changes of a table with a primary key and follow it; Ctrl-C ends it.

    Each change is a row: insert, update_before, update_after or delete. Bucket, offset and time of the
    change come last. Changes of one key come in the order in which they were made.

    \b
    Examples:
      lakeward changelog shop.customers
      lakeward changelog shop.customers --from 15m-ago --columns id,city
      lakeward changelog shop.customers --from earliest --no-follow -o json | jq 'select(._change_type == "delete")'
    """
    from lakeward.cli.output.log_ends import partition_names

    with session.connect() as connection:
        opened = connection.table(table)
        if not opened.info.descriptor.has_primary_key:
            raise Failure(f"{table} has no primary key, so its rows never change; see them with `lakeward tail`.")
        reading = Reading(
            opened,
            columns=columns or None,
            partitions=partition_names(opened, partitions),
            metadata=True,
            limit=limit,
            follow=follow,
        )
        batches = in_words(reading.last(rows) if start is None else reading.since(start))
        try:
            shown = show(kind_first(batches, metadata=True), output, streams=follow)
        except KeyboardInterrupt:
            return  # how a person says that it is enough
        if not shown and output == "table":
            say(f"{table} has no such changes.")
