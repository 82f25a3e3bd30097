"""lakeward doctor: what is wrong, and what to do."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from lakeward.cli.commands.scripts.jobs import jobs_in_short
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, output_option, say, show_json, terminal_width
from lakeward.cli.output.plain_text import has_colours, one_line

if TYPE_CHECKING:
    from lakeward.doctor.examine import Examination
    from lakeward.doctor.findings.finding import Finding

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
_WIDTH = 120
_INDENT = " " * 10
EXIT_TROUBLE, EXIT_COULD_NOT_LOOK = 1, 2


@click.command()
@click.option(
    "--data-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The server's data directory, where it is on this machine: more can be looked at then.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0.5, 600),
    default=5.0,
    show_default=True,
    metavar="S",
    help="Seconds to wait for answers at most.",
)
@click.option(
    "--bundle",
    "bundle_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write what a maintainer asks for into a zip file, without rows and secrets.",
)
@click.option(
    "--log",
    "logs",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A log file whose last lines go into the bundle; may be repeated.",
)
@click.option("--force", is_flag=True, help="Replace the file of --bundle if it is there.")
@output_option()
@on_server
@click.pass_context
def doctor(
    context: click.Context,
    session: Session,
    data_dir: Path | None,
    timeout_s: float,
    bundle_file: Path | None,
    logs: tuple[Path, ...],
    force: bool,
    output: str,
) -> None:
    """Look for what goes wrong in practice, and say what to do.

    Looks at the port, disk, clock, limits, versions, damage, tiering, tables and security of a server; changes nothing.
    Every finding has a section in docs/guides/troubleshooting.md. Exits with 0 when nothing is wrong, with 1 when
    something is, with 2 when it could not look.

    \b
    Examples:
      lakeward doctor
      lakeward doctor --data-dir /var/lib/lakeward
      lakeward doctor -o json
      lakeward doctor --bundle support.zip --log /var/log/lakeward.log
    """
    from lakeward.doctor.examine import examine_address

    if bundle_file is None and (logs or force):
        raise click.UsageError("--log and --force are for --bundle FILE.")
    if bundle_file is not None and bundle_file.exists() and not force:
        raise click.UsageError(f"{bundle_file} is there already; name another file, or say --force.")
    options = session.credentials.options()
    seen = asyncio.run(examine_address(session.server, options, data_dir=data_dir, timeout_s=timeout_s))
    if output == "json":
        show_json(seen.document())
    else:
        _show(seen)
    if bundle_file is not None:
        _write_bundle(bundle_file, seen, session.server, options, data_dir, logs, force)
    if not seen.is_well:
        context.exit(EXIT_TROUBLE)
    if seen.refusal is not None:
        context.exit(EXIT_COULD_NOT_LOOK)


def _write_bundle(
    path: Path,
    seen: Examination,
    server: str,
    options: dict[str, str],
    data_dir: Path | None,
    logs: tuple[Path, ...],
    force: bool,
) -> None:
    from lakeward.doctor.bundle.collect import collect

    bundle = asyncio.run(collect(seen, server, options, data_dir=data_dir, logs=logs))
    bundle.add_document("jobs.json", "Jobs of this user on this machine, without their statements.", jobs_in_short())
    bundle.write(path, replace=force)
    say(
        f"Wrote {path}: {count(len(bundle.names), 'text')}, no rows and no secrets. Look through it before you send it."
    )


def _show(seen: Examination) -> None:
    for finding in seen.findings:
        _show_finding(finding)
    if seen.refusal is not None:
        _show_lines(f"The cluster could not be looked at: {seen.refusal}")
    checked = f"{count(seen.checked, 'check')} made"
    counts = {word: sum(f.severity == word for f in seen.findings) for word in _COLOURS}
    found = ", ".join(count(number, word) for word, number in counts.items() if number) or "nothing is wrong"
    click.echo(f"{checked}: {found}.")
    by_reason: dict[str, list[str]] = {}
    for one in seen.unchecked:
        by_reason.setdefault(one.why, []).append(one.check)
    for why, checks in by_reason.items():
        _show_lines(f"Not checked: {', '.join(checks)}; {why}")


def _show_finding(finding: Finding) -> None:
    """The word in its colour, what is wrong, and below it what to do and where more is said."""
    word = finding.severity.value.ljust(len(_INDENT))
    if sys.stdout.isatty() and has_colours():
        word = click.style(word, fg=_COLOURS.get(finding.severity.value), bold=True)
    first, *rest = _lines(f"{finding.check}: {finding.what}")
    click.echo(f"{word}{first}")
    for line in (*rest, *_lines(finding.do), *_lines(f"See {finding.page}")):
        click.echo(f"{_INDENT}{line}")
    click.echo()


def _show_lines(text: str) -> None:
    for line in _lines(text, 0):
        click.echo(line)


def _lines(text: str, indent: int = len(_INDENT)) -> list[str]:
    """Lines that fit the terminal; names and commands stay whole."""
    width = max((terminal_width() or _WIDTH) - indent, 30)
    return wrap(one_line(text), width, break_long_words=False, break_on_hyphens=False) or [""]
