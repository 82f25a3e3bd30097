"""lakeward bench: how fast a server takes rows and gives them back, measured with our own client."""

from __future__ import annotations

from typing import Any

import click

from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say, show_json, show_listing
from lakeward.runtime.entropy import SystemEntropy


@click.command()
@click.option(
    "--rows", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="Rows to write and read."
)
@click.option("--single-rows", type=click.IntRange(min=1), default=500, show_default=True, help="Rows to write alone.")
@click.option("--buckets", type=click.IntRange(min=1), default=2, show_default=True, help="Buckets of the table.")
@click.option("--batch-rows", type=click.IntRange(min=1), default=50_000, show_default=True, help="Rows per batch.")
@output_option()
@on_server
def bench(session: Session, rows: int, single_rows: int, buckets: int, batch_rows: int, output: str) -> None:
    """Measure how fast a server takes rows and gives them back.

    Appends to a throw-away table, scans it, and drops it. Rows have 10 columns of about 92 bytes in all. The last two
    figures are of rows written one at a time: until the server has acknowledged the row, and until a reader that
    follows the table has it.

    \b
    Examples:
      lakeward bench
      lakeward bench --rows 4000000 --buckets 4 -o json
    """
    from lakeward.cli.commands.server.bench_work import BenchWork

    name = f"fluss.lakeward_bench_{SystemEntropy().token(4).hex()}"
    with session.connect() as connection:
        work = BenchWork(connection, name, buckets)
        try:
            results: list[dict[str, Any]] = []
            for step in work.steps(rows, batch_rows, single_rows):
                results.append(step)
                if output != "json":
                    say(f"{step['work']} … done")
        finally:
            connection.drop_table(name, missing_ok=True)
    if output == "json":
        show_json({"server": session.server, "rows": rows, "buckets": buckets, "results": results})
        return
    figures = ["rows/s", "MB/s", "p50 ms", "p99 ms"]
    show_listing([_figures_of(result) for result in results], ["work", *figures], "table", "", numbers=figures)


def _figures_of(result: dict[str, Any]) -> dict[str, str]:
    if "seconds" in result:
        rate = result["rows"] / result["seconds"]
        megabytes = result["bytes"] / result["seconds"] / 1e6
        return {"work": result["work"], "rows/s": f"{rate:,.0f}", "MB/s": f"{megabytes:,.0f}"}
    return {"work": result["work"], "p50 ms": f"{result['p50_ms']:.2f}", "p99 ms": f"{result['p99_ms']:.2f}"}
