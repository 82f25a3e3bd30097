"""lakeward copy: tables from one cluster to another."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import click

import lakeward
from lakeward.cli.input.credentials import check_no_secret
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.session import Session, between_servers
from lakeward.cli.output.copy_progress import CopyProgress
from lakeward.cli.output.listing import count, output_option, say, say_error, show_json, show_listing
from lakeward.cli.output.plain_text import lines
from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.kinds import DURATION

if TYPE_CHECKING:
    from lakeward.client.tables.connection import AsyncConnection
    from lakeward.moving.copier import Asked
    from lakeward.moving.report import BucketEnds, BucketSums, TableReport

_COLUMNS = ("table", "copied_by", "buckets", "rows", "behind", "offsets", "compared")


def _secretless(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    found = key_values(context, option, given)
    check_no_secret(found, option.opts[0])
    return found


def _seconds(_context: click.Context, _option: click.Parameter, given: str) -> float:
    try:
        return DURATION.parse(given) / 1000
    except ValueError as wrong:
        raise click.BadParameter(str(wrong)) from wrong


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.argument("tables", nargs=-1, metavar="[TABLE]…")
@click.option("--follow", is_flag=True, help="Go on with what comes, until Ctrl-C; tells how far behind it is.")
@click.option("--cut-over", is_flag=True, help="Go on with what comes, until the source is silent; then compare, end.")
@click.option("--silence", default="10 s", callback=_seconds, help="For how long --cut-over wants no new row.")
@click.option("--verify", is_flag=True, help="Only compare both sides; nothing is copied.")
@click.option("--no-verify", is_flag=True, help="Do not compare both sides after copying.")
@click.option(
    "--set", "properties", multiple=True, metavar="KEY=VALUE", callback=key_values, help="A property in the target."
)
@click.option(
    "--source-client", multiple=True, metavar="KEY=VALUE", callback=_secretless, help="--client for the source alone."
)
@click.option(
    "--target-client", multiple=True, metavar="KEY=VALUE", callback=_secretless, help="--client for the target alone."
)
@output_option()
@between_servers
@click.pass_context
def copy(
    context: click.Context,
    session: Session,
    source: str,
    target: str,
    tables: tuple[str, ...],
    follow: bool,
    cut_over: bool,
    silence: float,
    verify: bool,
    no_verify: bool,
    properties: dict[str, str],
    source_client: dict[str, str],
    target_client: dict[str, str],
    output: str,
) -> None:
    """Copy tables from one cluster to another: Lakeward or Apache Fluss, both ways.

    SOURCE and TARGET are addresses, HOST:PORT. Tables are names, or patterns such as 'shop.*'; without any, all of
    them. Databases, tables, their columns of all times, properties and partitions are made in the target; then every
    bucket's rows are copied in their order, to the offsets that they have in the source. A primary key table gets its
    changes one after the other, so that state and changelog are the same; where the first changes are gone, it gets its
    rows as they are, and then what changes. Afterwards both sides are read and compared.

    A copy that was interrupted goes on when it is started again: how far it came is read from the target. Nobody else
    may write to the target's tables meanwhile.

    To move while programs write: start with --cut-over, stop the programs when it is hardly behind, and start them with
    the new address when it has ended.

    Exits with 1 when something could not be copied or differs.

    \b
    Examples:
      lakeward copy laptop:9123 fluss-1:9123
      lakeward copy laptop:9123 fluss-1:9123 shop.orders 'logs.*' --set table.replication.factor=3
      lakeward copy laptop:9123 fluss-1:9123 --cut-over --silence 30s
      lakeward copy laptop:9123 fluss-1:9123 shop.orders --verify -o json
    """
    if verify and (no_verify or follow or cut_over or properties):
        raise click.UsageError("--verify only compares: it goes without --no-verify, --follow, --cut-over and --set.")
    if follow and cut_over:
        raise click.UsageError("--follow goes on until Ctrl-C, --cut-over until the source is silent: choose one.")
    if context.get_parameter_source("silence") is not click.core.ParameterSource.DEFAULT and not cut_over:
        raise click.UsageError("--silence is what --cut-over waits for: it goes with that alone.")
    if _address(source) == _address(target):
        raise click.UsageError(f"Source and target are both {source}.")
    from lakeward.moving.copier import Asked

    asked = Asked(
        tables=tables,
        properties=properties,
        copies=not verify,
        compares=not no_verify and not follow,
        follows=follow or cut_over,
        silence_s=silence if cut_over else None,
    )
    ways = (source, session.options(**source_client)), (target, session.options(**target_client))
    session.server = _address(source)  # where a hint about a name is looked for
    try:
        reports = asyncio.run(_run(ways, asked, output))
    except KeyboardInterrupt:
        say_error("Stopped." + " Start the same command again, and it goes on where it stopped." * asked.copies)
        raise
    except LakewardError as wrong:
        if wrong.code is not ErrorCode.NETWORK or session.debug:
            raise
        raise Failure(lines(f"{wrong.message} Once it answers, start the same command again.")) from wrong
    show(reports, asked, source, target, output)
    context.exit(1 if any(report.differs for report in reports) else 0)


def _address(text: str) -> str:
    return text.partition("://")[2] or text


async def _run(ways: tuple[tuple[str, dict[str, Any]], ...], asked: Asked, output: str) -> list[TableReport]:
    """Copy; Ctrl-C is how a person ends what would never end."""
    from lakeward.moving.copier import Copier

    source, target = [await _connect(_address(where), options) for where, options in ways]
    if (both := await _coordinator_places(source) & await _coordinator_places(target)) != set():
        host, port = min(both)
        raise Failure(f"Source and target are one cluster, by two names: its coordinator is at {host}:{port}.")
    with CopyProgress(quiet=output == "json") as progress:
        copier = Copier(source, target, asked, progress.move)
        try:
            return await copier.run()
        except asyncio.CancelledError:
            if asked.silence_s is not None or not copier.follows:
                raise
            await copier.last_look()
            return copier.reports
        finally:
            await source.close()
            await target.close()


async def _coordinator_places(connection: AsyncConnection) -> set[tuple[str, int]]:
    """Where a cluster's coordinator is, as numbers; by its name where nobody knows these."""
    loop, found = asyncio.get_running_loop(), set[tuple[str, int]]()
    for one in await connection.servers():
        if one.role == "coordinator":
            try:
                there = await loop.getaddrinfo(one.host, one.port, type=socket.SOCK_STREAM)
            except OSError:
                found.add((one.host, one.port))
            else:
                found |= {(str(place[0]), one.port) for *_, place in there}
    return found


async def _connect(where: str, options: dict[str, Any]) -> AsyncConnection:
    return await lakeward.aconnect(where, **options)


def show(reports: list[TableReport], asked: Asked, source: str, target: str, output: str) -> None:
    """What was done, as a table and a sentence, or as JSON."""
    if output == "json":
        show_json({"source": source, "target": target, "tables": [_as_node(report) for report in reports]})
        return
    rows = [_as_row(report) for report in reports]
    show_listing(rows, _COLUMNS, "table", "The source has no tables.", numbers=("buckets", "rows", "behind"))
    for report in reports:
        for one in report.differences:
            say_error(
                f"{report.path}, bucket {one.bucket}: {one.source_rows:,} rows in the source, {one.target_rows:,} in "
                f"the target, and they are not the same {one.where or ''}. Drop it in the target and copy it anew."
            )
        for ends in report.ends:
            say_error(f"{report.path}, bucket {ends.bucket}: {_ends_text(ends)}")
    for report in reports:
        for note in report.notes:
            say(f"Note: {report.path}: {note.rstrip('.')}.")
    if not reports:
        return
    done = f"{count(len(reports), 'table')}, {count(sum(r.rows for r in reports), 'row')} copied"
    differ = sum(report.differs for report in reports)
    compared = "nothing was compared" if not any(r.sums is not None for r in reports) else "both sides are the same"
    if differ:
        compared = f"{count(differ, 'table')} not the same on both sides"
    say(f"{done if asked.copies else count(len(reports), 'table')}: {compared}.")
    if asked.silence_s is not None and not differ:
        say(f"The source has been silent for {asked.silence_s:g} s. Start the writers with {target}.")


def _ends_text(ends: BucketEnds) -> str:
    here, there = ends.source_end, ends.target_end
    where = f"it ends at offset {here:,} in the source, at {there:,} in the target"
    if ends.is_foreign:
        return f"{where}: {count(there - here, 'row')} that the source lacks. Drop it in the target and copy it anew."
    return f"{where}: {count(here - there, 'row')} behind. Copying again goes on from there."


def _as_row(report: TableReport) -> dict[str, Any]:
    compared = None if report.sums is None else ("differs" if report.differs else "same")
    return {
        "table": str(report.path),
        "copied_by": report.way,
        "buckets": report.buckets,
        "rows": report.rows,
        "behind": report.behind,
        "offsets": "same" if report.same_offsets else "other",
        "compared": compared,
    }


def _as_node(report: TableReport) -> dict[str, Any]:
    return {
        **_as_row(report),
        "created": report.created,
        "bytes": report.bytes,
        "lake": report.lake,
        "notes": report.notes,
        "sums": None if report.sums is None else [_sums(one) for one in report.sums],
        "ends": [_ends(one) for one in report.ends],
    }


def _ends(one: BucketEnds) -> dict[str, Any]:
    return {
        "partition": one.bucket.partition,
        "bucket": one.bucket.bucket,
        "source_end": one.source_end,
        "target_end": one.target_end,
    }


def _sums(one: BucketSums) -> dict[str, Any]:
    return {
        "partition": one.bucket.partition,
        "bucket": one.bucket.bucket,
        "source_rows": one.source_rows,
        "target_rows": one.target_rows,
        "source_sum": f"{one.source_sum:016x}",
        "target_sum": f"{one.target_sum:016x}",
        "where": one.where,
    }
