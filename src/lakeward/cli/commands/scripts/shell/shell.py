"""lakeward shell: statements by hand, on Spark."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from lakeward.cli.commands.scripts.run import all_settings, read_script_file, require_spark, script_options
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option


@click.command()
@click.option("-i", "--init", metavar="FILE", help="Run this script first.")
@script_options
@output_option("table", "json", "csv")
@on_server
@click.pass_context
def shell(
    context: click.Context,
    session: Session,
    /,
    init: str | None,
    master: str,
    settings: dict[str, str],
    checkpoints: str | None,
    output: str,
) -> None:
    """Type SQL and see what it gives: tables, streams and jobs, on Spark.

    Spark starts behind the prompt. A SELECT is answered once; after SET 'execution.runtime-mode' = 'streaming' it is a
    view that changes as rows come, until Ctrl-C. INSERT … SELECT from a stream goes on as a job behind the prompt, and
    ends with the shell; started again, it goes on where it was. Tab completes, Ctrl-R searches what was typed before;
    statements that hold a password are not remembered. What comes in by a pipe is run as by `lakeward run`.

    `lakeward sql` is the shell without Spark: it only reads, and answers sooner.

    \b
    Examples:
      lakeward shell
      lakeward shell -i tables.sql -D execution.runtime-mode=streaming
      lakeward shell < pipeline.sql
    """
    require_spark()
    settings = all_settings(session, settings)
    if sys.stdin.isatty():
        from lakeward.cli.commands.scripts.script_start import ScriptStart
        from lakeward.cli.commands.scripts.shell.shell_loop import ShellLoop
        from lakeward.spark.scripts.jobs.job_home import JobHome

        first = None if init is None else read_script_file(init)
        home = JobHome.of_environment()
        start = ScriptStart(session.server, master, settings, home.log_file(os.getpid()))
        ShellLoop(start, home, output=output, is_debug=session.debug, checkpoints=checkpoints).run(first)
        return
    from lakeward.cli.commands.scripts.run_script import ScriptRun

    texts = [read_script_file(name) for name in (init, "-") if name is not None]
    run = ScriptRun(
        "\n".join(texts),
        None if init is None else str(Path(init).resolve()),
        server=session.server,
        master=master,
        settings=settings,
        checkpoints=checkpoints,
        output=output,
        is_debug=session.debug,
    )
    context.exit(run.to_the_end())
