"""lakeward jobs: streaming statements that run here, or ran."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.near_names import nearest
from lakeward.cli.input.parameters import confirm
from lakeward.cli.output.listing import moment, output_option, say, show_facts, show_json, show_listing, show_title
from lakeward.errors import LakewardError
from lakeward.options.secrets import without_passwords
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.spark.scripts.jobs.job_home import JobHome
    from lakeward.spark.scripts.jobs.job_record import JobRecord, StreamProgress

    _TextType = click.ParamType[str]
else:
    _TextType = click.ParamType  # generic only in newer versions of click

_PAUSE_S = 0.1


class JobName(_TextType):
    """A job's name; completes from what is written down."""

    name = "job"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The jobs that start like this."""
        del ctx, param
        try:
            return [CompletionItem(r.name) for r in _records(_home()) if r.name.startswith(incomplete)]
        except OSError:
            return []


@click.group(cls=Verbs)
def jobs() -> None:
    """Streaming statements of scripts that run on this machine, or ran: how far they are, why they failed."""


@jobs.command("list")
@output_option()
def jobs_list(output: str) -> None:
    """Show all jobs: their state, since when, how many rows, how far behind, where they write.

    Rows are counted from the start of the job's last run. A job is 'killed' when its process ended without a word; the
    next `lakeward run` of its script goes on where it was.

    \b
    Examples:
      lakeward jobs list
      lakeward jobs list -o json
    """
    home = _home()
    found = home.records()
    rows = [_facts(home, record) for record in found if not isinstance(record, LakewardError)]
    columns = ["name", "state", "since", "rows", "lag_rows", "sinks", "error"]
    shown = rows if output == "json" else [{**row, **_for_people(row)} for row in rows]
    show_listing(shown, columns, output, "No jobs yet: `lakeward run` starts them.", numbers=("rows", "lag_rows"))
    for record in found:
        if isinstance(record, LakewardError):
            say(record.message)


@jobs.command("show")
@click.argument("name", type=JobName())
@output_option()
def jobs_show(name: str, output: str) -> None:
    """Show what is known of a job: its statements, its checkpoint, each stream's progress, its last error.

    \b
    Example:
      lakeward jobs show enriched-1f2e3d4c
    """
    home = _home()
    record = _record(home, name)
    facts = _facts(home, record)
    if output == "json":
        show_json(facts)
        return
    show_facts(
        {
            "name": record.name,
            "state": facts["state"],
            "since": facts["since"],
            "ended": facts["ended"],
            "process": str(record.pid) if facts["state"] == "running" else None,
            "script": record.script,
            "checkpoint": record.checkpoint,
            "last error": facts["error"],
        }
    )
    for stream in record.streams:
        show_title(f"into {stream.sink}")
        show_facts(
            {
                "from": ", ".join(stream.sources),
                **_progress_facts(stream.progress),
                "state of": stream.state or None,
                "statement": without_passwords(stream.text),
            }
        )


@jobs.command("stop")
@click.argument("name", type=JobName())
@click.option("--timeout", type=click.FloatRange(min=0), default=60, show_default=True, help="Seconds to wait.")
def jobs_stop(name: str, timeout: float) -> None:
    """Stop one job when its micro-batch is written; others of the same process go on.

    The next `lakeward run` of its script goes on where it was.

    \b
    Example:
      lakeward jobs stop enriched-1f2e3d4c
    """
    home = _home()
    record = _record(home, name)
    if not home.is_held(name):
        raise Failure(f"Job '{name}' is not running: it is {home.state_of(record)}.")
    home.ask_to_stop(name)
    clock = SystemClock()
    end_s = clock.monotonic() + timeout
    while home.is_held(name):
        if clock.monotonic() > end_s:
            raise Failure(
                f"Job '{name}' has not stopped within {timeout:g} s; it was told to, and will at the end of its "
                f"micro-batch. Its process is {record.pid}."
            )
        time.sleep(_PAUSE_S)
    say(f"{name} is {home.state_of(_record(home, name))}.")


@jobs.command("drop")
@click.argument("name", type=JobName())
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def jobs_drop(name: str, yes: bool) -> None:
    """Forget a job and its checkpoint: the next run of its statement reads from the start.

    Rows that it wrote stay where they are. A checkpoint that is not on this machine is left there, as are slot and
    publication of a table of PostgreSQL.

    \b
    Example:
      lakeward jobs drop enriched-1f2e3d4c
    """
    home = _home()
    if not home.folder(name).is_dir():
        raise _unknown(home, name)
    confirm(f"Forget how far job '{name}' is? Run again, it reads from the start.", yes)
    lock = home.lock(name)
    if lock is None:
        raise Failure(f"Job '{name}' is running: stop it first, with `lakeward jobs stop {name}`.")
    try:
        home.drop(name)
    finally:
        os.close(lock)
    say(f"{name} is forgotten.")


def _home() -> JobHome:
    from lakeward.spark.scripts.jobs.job_home import JobHome

    return JobHome.of_environment()


def _records(home: JobHome) -> list[JobRecord]:
    from lakeward.spark.scripts.jobs.job_record import JobRecord

    return [record for record in home.records() if isinstance(record, JobRecord)]


def _record(home: JobHome, name: str) -> JobRecord:
    record = home.read(name)
    if record is None:
        raise _unknown(home, name)
    return record


def _unknown(home: JobHome, name: str) -> Failure:
    near = nearest(name, [record.name for record in _records(home)])
    return Failure(f"There is no job '{name}' on this machine." + (f" Did you mean '{near}'?" if near else ""))


def _facts(home: JobHome, record: JobRecord) -> dict[str, Any]:
    """Everything known of a job, as JSON has it."""
    lags = [stream.progress.lag_rows for stream in record.streams]
    return {
        "name": record.name,
        "state": home.state_of(record).value,
        "since": moment(record.since_ms),
        "ended": moment(record.ended_ms or 0),
        "rows": sum(stream.progress.rows for stream in record.streams),
        "lag_rows": None if None in lags else sum(lag or 0 for lag in lags),
        "sinks": list(record.sinks),
        "checkpoint": record.checkpoint,
        "script": record.script,
        "pid": record.pid,
        "error": None if record.error is None else without_passwords(record.error),
        "streams": [
            {
                "sink": stream.sink,
                "sources": list(stream.sources),
                "state": stream.state,
                "statement": without_passwords(stream.text),
                "checkpoint": stream.checkpoint,
                **{name: getattr(stream.progress, name) for name in stream.progress.__slots__},
            }
            for stream in record.streams
        ],
    }


def jobs_in_short() -> list[dict[str, Any]]:
    """Every job without its statements, for somebody who helps."""
    home = _home()
    shown = ("name", "state", "since", "ended", "rows", "lag_rows", "sinks", "error")
    records = [record for record in home.records() if not isinstance(record, LakewardError)]
    return [{key: _facts(home, record)[key] for key in shown} for record in records]


def _for_people(row: dict[str, Any]) -> dict[str, Any]:
    lag = row["lag_rows"] if row["state"] == "running" else None
    return {"rows": f"{row['rows']:,}", "lag_rows": None if lag is None else f"{lag:,}"}


def _progress_facts(progress: StreamProgress) -> dict[str, str | None]:
    from lakeward.cli.commands.scripts.job_lines import figures

    return {"progress": ", ".join(figures(progress))}
