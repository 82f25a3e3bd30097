"""Session: what holds for one run of the program. Which server, as whom, and how much to say about an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

import lakeward
from lakeward.cli.input.credentials import USER_VARIABLE, Credentials, check_no_secret
from lakeward.cli.input.key_values import key_values

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

SERVER_DEFAULT = "localhost:9123"
SERVER_VARIABLE = "LAKEWARD_SERVER"
_CONNECT_TIMEOUT = "10 s"


@dataclass(slots=True)
class Session:
    """The server to talk to, who does, and whether errors come with their trace."""

    server: str = SERVER_DEFAULT
    debug: bool = False
    credentials: Credentials = field(default_factory=Credentials)

    def connect(self, **options: Any) -> Connection:
        """Connect to the server; a person waits, so give up sooner than a program would."""
        return lakeward.connect(self.server, **self.options(**options))

    def options(self, **options: Any) -> dict[str, Any]:
        """What a client of this session is told, and these."""
        return {"client.connect-timeout": _CONNECT_TIMEOUT, **self.credentials.options(), **options}


pass_session = click.make_pass_decorator(Session, ensure=True)


def root_options(command: Callable[..., Any]) -> Any:
    """What every session is told, before the command's name; the environment counts here."""
    return _server(_user(_client(_debug(command)), envvar=USER_VARIABLE), envvar=SERVER_VARIABLE)


def on_server(command: Callable[..., Any]) -> Any:
    """For a command that talks to a server: the same after its name, and the session as argument."""
    return _server(_user(_client(_debug(pass_session(command)))))


def between_servers(command: Callable[..., Any]) -> Any:
    """For a command that names its servers itself: who talks to them, and the session as argument."""
    return _user(_client(_debug(pass_session(command))))


def bootstrap_option(command: Callable[..., Any]) -> Any:
    """The same, where `--bootstrap` is a name of `--server` as well, and the session is no argument."""
    return _server(_user(_client(_debug(command))), "--bootstrap")


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


def _user(command: Any, *, envvar: str | None = None) -> Any:
    return click.option(
        "-u",
        "--user",
        "user",
        metavar="NAME",
        envvar=envvar,
        expose_value=False,
        callback=_remember_user,
        help=f"Who logs in; the password is in LAKEWARD_PASSWORD, or asked for.  [env var: {USER_VARIABLE}]",
    )(command)


def _client(command: Any) -> Any:
    return click.option(
        "--client",
        "client",
        multiple=True,
        metavar="KEY=VALUE",
        expose_value=False,
        callback=_remember_client,
        help="An option of the client, such as client.security.tls.ca-file.",
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


def _remember_user(context: click.Context, _option: click.Parameter, user: str | None) -> None:
    session = context.ensure_object(Session)
    session.credentials.user = user or session.credentials.user


def _remember_client(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> None:
    found = key_values(context, option, given)
    check_no_secret(found, "--client")
    context.ensure_object(Session).credentials.given |= found


def _remember_debug(context: click.Context, _option: click.Parameter, debug: bool) -> None:
    session = context.ensure_object(Session)
    session.debug = session.debug or debug
