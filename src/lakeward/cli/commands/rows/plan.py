"""lakeward plan: what a query of a table would read, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.input.lake_read import lake_read_options, read_options
from lakeward.cli.input.parameters import TableName, names
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, output_option, say, show_facts, show_json, show_listing

if TYPE_CHECKING:
    from lakeward.query.plan.plan import LakeShare, Plan, Summary
    from lakeward.query.plan.splits import Split

_SHOWN_SPLITS = 20
_COLUMNS = ("tier", "partition", "bucket", "files", "rows", "log")


@click.command()
@click.argument("table", type=TableName())
@click.option(
    "--where", metavar="CONDITION", help="As in SQL: dt = '2026-11-01' AND price > 5. Needs the extra duckdb."
)
@click.option("--columns", callback=names, metavar="A,B", help="Only these columns.")
@click.option("--parallelism", type=click.IntRange(min=1), default=2, show_default=True, help="Tasks side by side.")
@lake_read_options
@output_option()
@on_server
def plan(
    session: Session,
    table: str,
    where: str | None,
    columns: tuple[str, ...],
    parallelism: int,
    warehouse: str | None,
    properties: dict[str, str],
    as_of: str | None,
    snapshot: str | None,
    output: str,
) -> None:
    """Show what a query of a table would read: files of the lake, stretches of the log, and what is left out.

    With -o json it is the whole plan, for an engine to run: see docs/reference/plan.schema.json.

    \b
    Examples:
      lakeward plan shop.orders --where "dt = '2026-11-01'"
      lakeward plan 'shop.orders$lake' -o json
    """
    from lakeward.query.duckdb.sql_tree import where_filters
    from lakeward.query.plan.log_bytes import with_log_bytes
    from lakeward.query.plan.planner import plan_read
    from lakeward.query.request.request import ReadRequest
    from lakeward.query.request.views import view_schema

    options = read_options(warehouse, properties, as_of, snapshot)
    with session.connect() as connection:
        named = ReadRequest.of_name(table)
        opened = connection.table(str(named.path))
        filters = () if where is None else where_filters(where, view_schema(opened.info.schema, named.view))
        asked = ReadRequest(named.path, named.view, columns or None, filters, options=options, parallelism=parallelism)
        made = with_log_bytes(opened, plan_read(connection, asked))
    if output == "json":
        show_json(made.to_json())
    else:
        _show(made)


def _show(made: Plan) -> None:
    total = made.summary
    cold = total.lake
    show_facts(
        {
            "table": total.name,
            "partitions": None if total.partitions is None else f"{total.partitions[0]} of {total.partitions[1]}",
            "lake": None if cold is None else f"{cold.format}, snapshot {cold.snapshot_id}",
            "from the lake": None if cold is None else _share(cold),
            "from the log": _log_share(total),
            "columns": f"{total.columns[0]} of {total.columns[1]}",
            "pruned by": ", ".join(total.filters) or None,
        }
    )
    show_listing([_line(s) for s in made.splits[:_SHOWN_SPLITS]], _COLUMNS, "table", "There is nothing to read.")
    if len(made.splits) > _SHOWN_SPLITS:
        say(f"… and {len(made.splits) - _SHOWN_SPLITS:,} more splits; -o json shows all.")


def _share(cold: LakeShare) -> str:
    return f"{count(cold.rows, 'row')} in {cold.files} of {count(cold.files_in_all, 'file')}, {cold.bytes:,} bytes"


def _log_share(total: Summary) -> str:
    about = f", about {total.log_bytes:,} bytes" if total.log_bytes else ""
    state = ""
    if total.is_state:
        changes = total.offsets - total.log_offsets - (total.lake.rows if total.lake else 0)
        state = f", and the current state of servers, at most {count(changes, 'row')}"
    return total.log_share + about + state


def _line(split: Split) -> dict[str, Any]:
    """A split as a row: what comes from files, and the offsets that come from the log."""
    told = split.to_json()
    files = told.get("files")
    stretch = (told.get("log_start", told.get("start")), told.get("log_stop", told.get("stop")))
    has_log = None not in stretch and stretch[0] != stretch[1]
    return {
        "tier": str(split.tier),
        "partition": split.partition,
        "bucket": told.get("bucket"),
        "files": None if files is None else len(files),
        "rows": None if files is None else sum(file["rows"] for file in files),
        "log": f"{stretch[0]}–{stretch[1]}" if has_log else ("state" if told["kind"] == "state" else None),
    }
