"""What people write on the command line → values: names, lists, `key=value`, places in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from lakeward.cli.input.session import Session
from lakeward.model.moments import moment_of
from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

    _TextType = click.ParamType[str]
    _PlaceType = click.ParamType[str | int | datetime]
else:
    _TextType = _PlaceType = click.ParamType  # generic only in newer versions of click

_COMPLETION_TIMEOUT = "700 ms"


class DatabaseName(_TextType):
    """A database's name; completes from the server."""

    name = "database"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The databases that start like this."""
        del param
        return _complete(ctx, lambda connection: connection.databases(), incomplete)


class TableName(_TextType):
    """A table's name, `db.table`, or `table` in the database `fluss`; completes from the server."""

    name = "table"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The tables that start like this."""
        del param

        def names(connection: Connection) -> list[str]:
            databases = [d for d in connection.databases() if f"{d}.".startswith(incomplete.partition(".")[0])]
            return [f"{d}.{t}" for d in databases for t in connection.tables(d)]

        return _complete(ctx, names, incomplete)


def _complete(
    context: click.Context, ask: Callable[[Connection], Sequence[str]], incomplete: str
) -> list[CompletionItem]:
    session = context.ensure_object(Session)
    if session.credentials.would_ask:  # nobody who presses Tab expects a question
        return []
    try:
        with session.connect(connect_timeout=_COMPLETION_TIMEOUT, request_timeout=_COMPLETION_TIMEOUT) as connection:
            return [CompletionItem(name) for name in ask(connection) if name.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - without an answer there is nothing to offer, and nobody to tell
        return []


class Place(_PlaceType):
    """A place in a log: earliest, latest, an offset, or a time."""

    name = "place"

    def __init__(self, *, offsets: bool = True, clock: Clock | None = None) -> None:
        self._offsets = offsets
        self._clock = clock or SystemClock()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int | datetime:
        """`"earliest"`, `"latest"`, an offset, or a time with its zone."""
        if not isinstance(value, str):
            assert isinstance(value, int | datetime)
            return value
        text = value.strip()
        if text in {"earliest", "latest"}:
            return text
        if self._offsets and text.isdecimal():
            return int(text)
        try:
            return moment_of(text, self._clock.now_ms(), self._clock.zone())
        except ValueError:
            self.fail(f"{value!r} is not {self.describe()}.", param, ctx)

    def describe(self) -> str:
        """What is taken, in words."""
        offset = "an offset, " if self._offsets else ""
        return f"earliest, latest, {offset}a time such as 2026-08-01T12:00:00Z (local without a zone) or 15m-ago"


def names(context: click.Context, option: click.Parameter, given: str | None) -> tuple[str, ...]:
    """`a,b` → ("a", "b"); for use as an option's callback."""
    if given is None:
        return ()
    found = tuple(part.strip() for part in given.split(","))
    if not all(found):
        raise click.BadParameter(f"{given!r} is not a list of names; write a,b,c.", context, option)
    return found


def confirm(question: str, yes: bool) -> None:
    """Ask before something is lost; where nobody can be asked, --yes must have been said."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Nobody can be asked here, since there is no terminal: say --yes.")
    click.confirm(question, abort=True, err=True)
