"""Session: what holds for one run of the program. Which server, and how much to say about an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import lakeward

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

SERVER_DEFAULT = "localhost:9123"
SERVER_VARIABLE = "LAKEWARD_SERVER"
_CONNECT_TIMEOUT = "10 s"


@dataclass(slots=True)
class Session:
    """The server to talk to, and whether errors come with their trace."""

    server: str = SERVER_DEFAULT
    debug: bool = False

    def connect(self, **options: Any) -> Connection:
        """Connect to the server; a person waits, so give up sooner than a program would."""
        return lakeward.connect(self.server, **{"connect_timeout": _CONNECT_TIMEOUT, **options})


pass_session = click.make_pass_decorator(Session, ensure=True)


def root_options(command: Callable[..., Any]) -> Any:
    """`--server` and `--debug` before the command's name; the environment counts here."""
    return _server(_debug(command), envvar=SERVER_VARIABLE)


def on_server(command: Callable[..., Any]) -> Any:
    """For a command that talks to a server: `--server` and `--debug` after its name, and the session as argument."""
    return _server(_debug(pass_session(command)))


def bootstrap_option(command: Callable[..., Any]) -> Any:
    """`--server` and `--debug`, where `--bootstrap` is a name of the first as well."""
    return _server(_debug(command), "--bootstrap")


def _server(command: Any, *more_names: str, envvar: str | None = None) -> Any:
    return click.option(
        "-s",
        "--server",
        *more_names,
        "server",
        metavar="HOST:PORT",
        envvar=envvar,
        expose_value=False,
        callback=_remember_server,
        help=f"Server to talk to.  [env var: {SERVER_VARIABLE}; default: {SERVER_DEFAULT}]",
    )(command)


def _debug(command: Any) -> Any:
    return click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_remember_debug,
        help="Show the trace behind an error.",
    )(command)


def _remember_server(context: click.Context, _option: click.Parameter, server: str | None) -> None:
    session = context.ensure_object(Session)
    if server:
        session.server = ",".join(part.strip().partition("://")[2] or part for part in server.split(",")).rstrip("/")


def _remember_debug(context: click.Context, _option: click.Parameter, debug: bool) -> None:
    session = context.ensure_object(Session)
    session.debug = session.debug or debug
