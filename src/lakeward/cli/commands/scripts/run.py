"""lakeward run: a script, top to bottom; its streams go on until it is stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from lakeward.cli.input.credentials import check_no_secret
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option


def script_options(command: Callable[..., Any]) -> Any:
    """What `run` and `shell` are both told: where Spark is, settings, and where checkpoints go."""
    checkpoints = click.option(
        "--checkpoints", metavar="DIR", help="Where checkpoints are, instead of beside the records of jobs."
    )
    settings = click.option(
        "-D",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        callback=key_values,
        help="A setting, as SET has it; spark.… is one of Spark, client.… an option of the client.",
    )
    master = click.option("--master", default="local[*]", show_default=True, help="Spark's master.")
    return master(settings(checkpoints(command)))


@click.command()
@click.argument("file", required=False, metavar="[FILE|-]")
@click.option("-e", "--execute", "statements", metavar="TEXT", help="Run this text instead of a file.")
@script_options
@click.option("--watch", is_flag=True, help="Show more of each stream.")
@click.option("--metrics-port", type=click.IntRange(0, 65535), help="Serve /metrics for Prometheus on this port.")
@output_option("table", "json", "csv")
@on_server
@click.pass_context
def run(
    context: click.Context,
    session: Session,
    /,
    file: str | None,
    statements: str | None,
    master: str,
    settings: dict[str, str],
    checkpoints: str | None,
    watch: bool,
    metrics_port: int | None,
    output: str,
) -> None:
    """Run a script of SQL on Spark.

    Statements run top to bottom; the first that fails ends the script, and those before it stand. INSERT … SELECT from
    a stream goes on as a job until it is stopped, with a line of progress: `lakeward jobs` knows its name. Stopped,
    killed or failed, it goes on where it was when the script is run again. Ctrl-C and SIGTERM let micro-batches under
    way finish. Rows go to stdout, all else to stderr.

    \b
    Examples:
      lakeward run pipeline.sql
      lakeward run pipeline.sql --watch -D spark.sql.shuffle.partitions=8
      lakeward run -e "SELECT count(*) FROM shop.orders" -o json
      lakeward run - < pipeline.sql
    """
    require_spark()
    from lakeward.cli.commands.scripts.run_script import ScriptRun

    if (file is None) == (statements is None):
        raise click.UsageError("Name a file (or - for what comes in on stdin), or give a text with -e.")
    text = statements if statements is not None else read_script_file(file or "")
    path = None if file in {None, "-"} else str(Path(file or "").resolve())
    run = ScriptRun(
        text,
        path,
        server=session.server,
        master=master,
        settings=all_settings(session, settings),
        checkpoints=checkpoints,
        output=output,
        is_detailed=watch,
        metrics_port=metrics_port,
        is_debug=session.debug,
    )
    context.exit(run.to_the_end())


def all_settings(session: Session, settings: Mapping[str, str]) -> dict[str, str]:
    """Settings with what the session knows of the client; secrets among them are refused."""
    check_no_secret({key: value for key, value in settings.items() if key.startswith("client.")}, "-D")
    return {**session.credentials.options(), **settings}


def require_spark() -> None:
    """What scripts need comes with an extra."""
    if any(find_spec(library) is None for library in ("pyspark", "sqlglot", "prompt_toolkit")):
        raise Failure("Scripts need Spark, which is not installed: pip install 'lakeward[spark]'.")


def read_script_file(file: str) -> str:
    """A script as text; `-` is what comes in on stdin."""
    content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = content[: wrong.start].count(b"\n") + 1
        raise click.BadParameter(f"{file} is not UTF-8: line {line} has a byte that is none.") from None
