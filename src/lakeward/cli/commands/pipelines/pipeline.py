"""lakeward pipeline: whole databases, copied and followed, by a file."""

from __future__ import annotations

import click

from lakeward.cli.commands.pipelines.pipeline_files import definitions_of, require_spark
from lakeward.cli.commands.scripts.run import script_options
from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.parameters import confirm
from lakeward.cli.input.session import Session
from lakeward.cli.output.listing import count, output_option, say

_files = click.argument("files", nargs=-1, required=True, metavar="FILE…")


@click.group(cls=Verbs)
def pipeline() -> None:
    """Copy databases and follow their changes, as YAML files say."""


@pipeline.command("run")
@_files
@script_options
@click.option("--once", is_flag=True, help="Take what is there now, and end.")
@click.option("--metrics-port", type=click.IntRange(0, 65535), help="Serve /metrics for Prometheus on this port.")
@click.pass_context
def run(
    context: click.Context,
    files: tuple[str, ...],
    master: str,
    settings: dict[str, str],
    checkpoints: str | None,
    once: bool,
    metrics_port: int | None,
) -> None:
    """Run the pipelines of files until they are stopped.

    The tables are copied, then their changes are followed. A pipeline that fails is tried again after a while, which
    grows; the others go on. Stopped, killed or failed, each goes on where it was when it is run again. Ctrl-C and
    SIGTERM let micro-batches under way finish.

    \b
    Examples:
      lakeward pipeline run pipeline.yaml
      lakeward pipeline run pipelines/*.yaml --metrics-port 9400
      lakeward pipeline run pipeline.yaml --once
    """
    found = definitions_of(files)
    require_spark()
    from lakeward.cli.commands.pipelines.pipeline_start import PipelineStart

    start = PipelineStart(
        found,
        master=master,
        settings=settings,
        checkpoints=checkpoints,
        once=once,
        metrics_port=metrics_port,
        is_debug=context.ensure_object(Session).debug,
    )
    context.exit(start.to_the_end())


@pipeline.command("validate")
@_files
def validate(files: tuple[str, ...]) -> None:
    """Check files without speaking to anyone: every mistake at once, with its line.

    \b
    Examples:
      lakeward pipeline validate pipeline.yaml
      lakeward pipeline validate pipelines/*.yaml
    """
    found = definitions_of(files)
    for one in found:
        say(f"{one.name}: {one.source.type} → {one.sink.type}, {count(len(one.tables), 'pattern')} of tables.")
    say(f"{count(len(found), 'pipeline')} in {count(len(files), 'file')}: no mistake.")


@pipeline.command("plan")
@_files
@output_option()
def plan(files: tuple[str, ...], output: str) -> None:
    """Show which tables match, where each goes, with which types and keys, and what would be made.

    Nothing is touched, in the database or in the sink.

    \b
    Examples:
      lakeward pipeline plan pipeline.yaml
      lakeward pipeline plan pipeline.yaml -o json
    """
    found = definitions_of(files)
    require_spark()
    from lakeward.cli.commands.pipelines.pipeline_plan import show_plans

    show_plans(found, output)


@pipeline.command("status")
@click.argument("name", required=False)
@output_option()
def status(name: str | None, output: str) -> None:
    """Show how pipelines are: phase, rows, lag, what the database holds back for them, why they failed.

    \b
    Examples:
      lakeward pipeline status
      lakeward pipeline status shop-to-fluss -o json
    """
    from lakeward.cli.commands.pipelines.pipeline_status import show_statuses

    show_statuses(name, output)


@pipeline.command("stop")
@click.argument("name")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait no longer than this.",
)
def stop(name: str, timeout: float) -> None:
    """Stop a pipeline, whichever process runs it; the next run goes on where it was.

    Its slot stays, so that nothing is lost: the database keeps its log for it. `drop` removes that.

    \b
    Example:
      lakeward pipeline stop shop-to-fluss
    """
    from lakeward.cli.commands.pipelines.pipeline_status import stop_pipeline

    stop_pipeline(name, timeout)


@pipeline.command("drop")
@click.argument("name")
@click.option("-f", "--file", "file", metavar="FILE", help="The file, if it is not where it was.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def drop(name: str, file: str | None, yes: bool) -> None:
    """Remove a pipeline for good: its slot on the database, its checkpoint, its status. The sink's tables stay.

    \b
    Example:
      lakeward pipeline drop shop-to-fluss
    """
    from lakeward.cli.commands.pipelines.pipeline_status import drop_pipeline

    drop_pipeline(name, file, lambda: confirm(f"Forget how far pipeline {name} is, and remove its slot?", yes))
