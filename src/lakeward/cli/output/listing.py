"""Listings and records, as a table for people or one JSON document for programs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

from lakeward.cli.output.plain_text import has_colours, json_text, lines, one_line
from lakeward.cli.output.text_table import TableColumn, TextTable

Command = TypeVar("Command", bound=Callable[..., Any])


def output_option(*formats: str) -> Callable[[Command], Command]:
    """`-o table|json`, as the argument `output`; the first format is the default."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(formats or ("table", "json")),
        default=(formats or ("table",))[0],
        show_default=True,
        help="How to print.",
    )


def terminal_width() -> int | None:
    """The width of the terminal that stdout is, or None when it is a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def page_rows() -> int:
    """How many rows go under a header so that one header is always on the screen."""
    return max(shutil.get_terminal_size().lines - 2, 1)


def show_listing(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    output: str,
    nothing: str,
    numbers: Collection[str] = (),
) -> None:
    """Print things of one kind: a table of `columns`, or a JSON list with everything known of each.

    `nothing` is said (to stderr) when a person would otherwise see an empty screen. Whole numbers stand to the right,
    as do the columns named in `numbers`.
    """
    if output == "json":
        show_json(list(rows))
        return
    if not rows:
        say(nothing)
        return
    heads = [
        TableColumn(
            name.replace("_", " ").upper(),
            is_number=name in numbers or all(type(row.get(name)) is int for row in rows),
            is_text=True,
        )
        for name in columns
    ]
    TextTable(heads, sys.stdout, terminal_width()).write([[_text(row.get(name)) for name in columns] for row in rows])


def show_json(document: Any) -> None:
    """Print one JSON document."""
    click.echo(json_text(json.dumps(document, indent=2, ensure_ascii=False, default=str)))


def show_facts(facts: Mapping[str, str | None]) -> None:
    """Print names and values, one per line; those without a value are left out."""
    shown = {name: value for name, value in facts.items() if value}
    width = max(map(len, shown))
    for name, value in shown.items():
        title = f"{name}:".ljust(width + 2)
        click.echo(f"{_bold(title)}{lines(value)}")


def show_title(title: str) -> None:
    """Print the head of a part."""
    title = one_line(title)
    click.echo(f"\n{_bold(title)}")


def count(number: int, noun: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def moment(epoch_ms: int) -> str | None:
    """A time as people read it, in UTC; None when it is not known."""
    if epoch_ms <= 0:
        return None
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S") + "Z"


def say(message: str) -> None:
    """Tell a person what was done, on stderr: stdout is for data."""
    click.echo(lines(message), err=True)


def say_error(message: str) -> None:
    """The same where something went wrong: it stands out where there are colours."""
    click.secho(lines(message), fg="red" if has_colours() else None, err=True)


def _bold(title: str) -> str:
    return click.style(title, bold=True) if sys.stdout.isatty() and has_colours() else title


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={v}" for k, v in value.items()) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return str(value)
