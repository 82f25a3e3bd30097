"""lakeward tables advise: what to change about tables, from their own figures."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.input.lake_read import lake_place_options, read_options
from lakeward.cli.input.parameters import TableName
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say, show_facts, show_json, show_listing, show_title
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.advice.advice import Advice
    from lakeward.advice.figures import TableFigures


@click.command()
@click.argument("tables", nargs=-1, type=TableName(), metavar="[TABLE]…")
@click.option("--rules", is_flag=True, help="Only list what is looked at.")
@lake_place_options
@output_option()
@on_server
def advise(
    session: Session,
    tables: tuple[str, ...],
    rules: bool,
    warehouse: str | None,
    properties: dict[str, str],
    output: str,
) -> None:
    """Suggest buckets, partitions, formats, retention and lake settings from a table's own figures.

    Looks at how many rows come, how large they are, how they spread over buckets and partitions, what the lake holds,
    and at a sample of the newest rows. Nothing is changed. The rules are rules of thumb: the figures are shown beside
    each, to judge by. Without a name, all tables are looked at.

    \b
    Examples:
      lakeward tables advise shop.orders
      lakeward tables advise
      lakeward tables advise --rules
      lakeward tables advise -o json | jq '.[] | select(.advice != [])'
    """
    from lakeward.advice.rules import RULES
    from lakeward.advice.rules import advise as judge
    from lakeward.advice.survey import survey

    if rules:
        rows = [{"rule": rule.name, "looks_at": rule.looks_at} for rule in RULES]
        show_listing(rows, ["rule", "looks_at"], output, "")
        return
    place = read_options(warehouse, properties, None, None)
    told: list[tuple[TableFigures, list[Advice]]] = []
    with session.connect() as connection:
        names = list(tables) or [f"{d}.{t}" for d in connection.databases() for t in connection.tables(d)]
        for name in names:
            figures = survey(connection, connection.table(name), SystemClock().now_ms(), place)
            told.append((figures, judge(figures)))
            if output == "table":
                _show(*told[-1])
    if output == "json":
        show_json([_as_node(figures, advice) for figures, advice in told])
    elif not told:
        say("There are no tables.")


def _show(figures: TableFigures, advice: list[Advice]) -> None:
    show_title(figures.table)
    show_facts(_facts(figures))
    if not advice:
        click.echo("Nothing to change.")
    for one in advice:
        click.echo(f"\n{one.rule}: {one.figure}")
        click.echo(f"  {one.advice}, because {one.reason}.")
        click.echo(f"  {one.command}")


def _facts(f: TableFigures) -> dict[str, str | None]:
    """The figures as people read them."""
    kind = "primary key" if f.has_primary_key else "log"
    places = f"{f.bucket_count} buckets" + (f" in each of {f.partition_count:,} partitions" if f.partition_keys else "")
    size = None if f.log_bytes is None else f"{f.log_bytes / 1e6:,.1f} MB"
    rows = f"{f.log_rows:,}" + (f" changes of {f.key_rows:,} rows" if f.key_rows is not None else " rows")
    rate = None if f.rows_per_s_now is None else f"{f.rows_per_s_now:,.1f} now"
    rate = rate if f.rows_per_s is None else f"{rate or '?'}, {f.rows_per_s:,.1f} on the average"
    shares = f"{f.update_share:.0%} updates, {f.delete_share:.0%} deletes of {f.sampled_changes:,}"
    lake = None
    if f.lake_files is not None:
        lake = f"{f.lake_format}: {f.lake_files:,} files, {(f.lake_bytes or 0) / 1e6:,.1f} MB"
        lake += f", {f.lake_snapshots or 0:,} snapshots"
        lake += "" if f.lake_lag_rows is None else f", {f.lake_lag_rows:,} rows behind"
    return {
        "Kind": f"{kind}, {places}",
        "Log": rows if size is None else f"{rows}, {size} about",
        "Rows a second": rate,
        "Bytes a row": None if f.row_bytes is None else f"{f.row_bytes:,.0f}, {f.batch_rows or 0:,.0f} rows a batch",
        "Fullest bucket": None if f.skew is None else f"{f.skew:.1f} times an average one",
        "Changes": shares if f.sampled_changes else None,
        "Oldest row": None if f.log_age_s is None else f"{f.log_age_s / 3600:,.1f} hours",
        "Lake": lake or ("nothing known of it here" if f.is_tiered else None),
    }


def _as_node(figures: TableFigures, advice: list[Advice]) -> dict[str, Any]:
    more = {"log_bytes": figures.log_bytes, "bytes_per_s": figures.bytes_per_s, "skew": figures.skew}
    return {"table": figures.table, "figures": asdict(figures) | more, "advice": [asdict(one) for one in advice]}
