"""lakeward offsets: where each bucket's log begins and ends."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from lakeward.cli.input.parameters import Place, TableName
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, show_listing


@click.command()
@click.argument("table", type=TableName())
@click.option("--at", type=Place(offsets=False), help=f"Only this one: {Place(offsets=False).describe()}.")
@output_option()
@on_server
def offsets(session: Session, table: str, at: str | datetime | None, output: str) -> None:
    """Show where each bucket's log begins and ends, or which offset a moment has.

    \b
    Examples:
      lakeward offsets shop.orders
      lakeward offsets shop.orders --at 15m-ago
      lakeward offsets shop.orders --at 2026-08-01T12:00:00Z -o json
    """
    from lakeward.cli.output.table_description import offsets_by_bucket

    with session.connect() as connection:
        opened = connection.table(table)
        rows: list[dict[str, Any]]
        if at is None:
            rows = offsets_by_bucket(opened)
        else:
            found = sorted(opened.offsets(at).items(), key=lambda item: (item[0].partition or "", item[0].bucket))
            rows = [{"partition": b.partition, "bucket": b.bucket, "offset": offset} for b, offset in found]
        is_partitioned = opened.info.descriptor.is_partitioned
    columns = ["bucket", *(["earliest", "latest", "rows"] if at is None else ["offset"])]
    if is_partitioned:
        columns.insert(0, "partition")
    show_listing(rows, columns, output, f"{table} has no partitions, so no buckets yet.")
