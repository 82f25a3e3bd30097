"""lakeward groups: list, describe, reset, delete."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.parameters import Place, TableName, confirm
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, output_option, say, show_listing
from lakeward.model.table import TablePath

if TYPE_CHECKING:
    from lakeward.client.blocking.groups import GroupBucket
    from lakeward.client.forms.results import BucketId

_time = Place(offsets=False)
_TIME_HELP = f"To a time: {_time.describe().partition('a time ')[2]}."
_OFFSET_HELP = "To an offset, or the nearer end of the log."
_targets = (
    click.option("--to-earliest", is_flag=True, help="To the oldest row that is still there."),
    click.option("--to-latest", is_flag=True, help="To the end: only rows that come from now on."),
    click.option("--to-timestamp", type=_time, metavar="TIME", help=_TIME_HELP),
    click.option("--to-offset", type=click.IntRange(min=0), metavar="OFFSET", help=_OFFSET_HELP),
)


def _target_options(command: Any) -> Any:
    for option in reversed(_targets):
        command = option(command)
    return command


@click.group(cls=Verbs)
def groups() -> None:
    """See how far consumer groups got, and move them."""


@groups.command("list")
@output_option()
@on_server
def list_groups(session: Session, output: str) -> None:
    """List the consumer groups.

    \b
    Example:
      lakeward groups list
    """
    from lakeward.client.blocking.groups import ConsumerGroups

    with session.connect() as connection:
        found = ConsumerGroups(connection).groups()
    rows = [
        {"group": g.name, "tables": list(g.tables), "buckets": g.buckets, "last_commit": _moment(g.committed_at)}
        for g in found
    ]
    show_listing(rows, ["group", "tables", "buckets", "last_commit"], output, "No consumer group has committed yet.")


@groups.command("describe")
@click.argument("group")
@output_option()
@on_server
def describe_group(session: Session, group: str, output: str) -> None:
    """Show where a group is in each bucket, and how many rows are still ahead of it.

    \b
    Examples:
      lakeward groups describe billing
      lakeward groups describe billing -o json
    """
    from lakeward.client.blocking.groups import ConsumerGroups

    with session.connect() as connection:
        found = ConsumerGroups(connection).describe(group)
    rows = [_row(bucket) for bucket in found]
    columns = ["table", "partition", "bucket", "committed", "latest", "lag", "last_commit"]
    if all(row["partition"] is None for row in rows):
        columns.remove("partition")
    show_listing(rows, columns, output, "", numbers=("committed", "latest", "lag"))
    if output == "table":
        say(f"{count(sum(b.lag or 0 for b in found), 'row')} behind.")


@groups.command("reset")
@click.argument("group")
@click.argument("table", type=TableName())
@_target_options
@click.option("--partition", "partitions", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--bucket", "buckets", type=int, multiple=True, metavar="N", help="Only this one; may be repeated.")
@output_option()
@on_server
def reset_group(
    session: Session,
    group: str,
    table: str,
    partitions: tuple[str, ...],
    buckets: tuple[int, ...],
    output: str,
    **targets: Any,
) -> None:
    """Move a group in a table; readers take it over when they start again. A group that is not there yet is made.

    \b
    Examples:
      lakeward groups reset billing shop.orders --to-earliest
      lakeward groups reset billing shop.orders --to-timestamp 15m-ago
      lakeward groups reset billing shop.orders --to-offset 1200 --bucket 0
    """
    from lakeward.cli.output.log_ends import partition_names
    from lakeward.client.blocking.groups import ConsumerGroups

    to = _target(**targets)
    with session.connect() as connection:
        opened = connection.table(table)
        names = partition_names(opened, partitions)
        moved = ConsumerGroups(connection).reset(group, opened.path, to, partitions=names, buckets=buckets or None)
    rows = [{"partition": b.partition, "bucket": b.bucket, "offset": offset} for b, offset in moved.items()]
    columns = ["bucket", "offset"] if all(b.partition is None for b in moved) else ["partition", "bucket", "offset"]
    show_listing(rows, columns, output, "")
    say(f"Group {group} goes on from here in {count(len(moved), 'bucket')} of {opened.path}.")


@groups.command("delete")
@click.argument("group")
@click.option("--table", type=TableName(), help="Only what the group committed of this table.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@on_server
def delete_group(session: Session, group: str, table: str | None, yes: bool) -> None:
    """Forget how far a group got.

    \b
    Examples:
      lakeward groups delete billing --yes
      lakeward groups delete billing --table shop.orders
    """
    from lakeward.client.blocking.groups import ConsumerGroups

    path = None if table is None else TablePath.parse(table)
    confirm(f"Forget the offsets of group {group}{'' if path is None else f' in {path}'}?", yes)
    with session.connect() as connection:
        gone = ConsumerGroups(connection).delete(group, path)
    say(f"Forgot {count(gone, 'offset')} of group {group}.")


def _target(
    *, to_earliest: bool, to_latest: bool, to_timestamp: str | datetime | None, to_offset: int | None
) -> str | datetime | int:
    given: list[str | datetime | int] = [
        *(["earliest"] if to_earliest else []),
        *(["latest"] if to_latest else []),
        *(to for to in (to_timestamp, to_offset) if to is not None),
    ]
    if len(given) != 1:
        raise click.UsageError("Say where to: one of --to-earliest, --to-latest, --to-timestamp, --to-offset.")
    return given[0]


def _row(found: GroupBucket) -> dict[str, Any]:
    bucket: BucketId = found.bucket
    return {
        "table": found.table,
        "partition": bucket.partition,
        "bucket": bucket.bucket,
        "committed": found.next_offset,
        "earliest": found.earliest,
        "latest": found.latest,
        "lag": found.lag,
        "last_commit": _moment(found.committed_at),
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.strftime("%Y-%m-%d %H:%M:%S") + "Z"
