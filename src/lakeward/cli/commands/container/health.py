"""lakeward health: is it well? An answer for whatever watches processes."""

from __future__ import annotations

import http.client
import os
import ssl
from urllib.parse import urlsplit

import click

from lakeward.cli.input.failures import Failure
from lakeward.cli.input.fluss_properties import VARIABLE, settings_of
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.plain_text import lines
from lakeward.options.server import BIND_LISTENERS

_ANSWER_MAX = 64 << 10
_EVERYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104 - a comparison
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}
_LOGIN_WANTED = 401


@click.command()
@click.option(
    "--url",
    envvar="LAKEWARD_HEALTH_URL",
    help="What to ask.  [env var: LAKEWARD_HEALTH_URL; default: /health of the server]",
)
@click.option("--timeout", type=click.FloatRange(0.1, 600), default=5, show_default=True, help="Seconds to wait.")
@on_server
def health(session: Session, url: str | None, timeout: float) -> None:
    """Ask a server whether it answers: 0 is yes, 1 is no.

    For health checks of containers and units: a server that is damaged or read-only answers and says so, since starting
    it again would mend nothing. A server that asks for a login is there, which is enough. Without an
    address it is the first of 'bind.listeners' in FLUSS_PROPERTIES, or the usual port of this machine. A certificate is
    not looked at if it is this machine's own.

    \b
    Examples:
      lakeward health
      lakeward health --server localhost:9200
      lakeward health --url http://localhost:9180/
    """
    where = urlsplit(url or _address(session))
    if where.scheme not in {"http", "https"} or not where.hostname:
        raise Failure(f"'{url}' is no address; write http://host:port/path or https://host:port/path.")
    connection = _connection(where.scheme, where.hostname, where.port, timeout)
    try:
        connection.request("GET", where.path or "/")
        answer = connection.getresponse()
        text = answer.read(_ANSWER_MAX).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as wrong:
        raise Failure(f"{where.hostname}:{where.port} does not answer: {wrong or type(wrong).__name__}.") from wrong
    finally:
        connection.close()
    if answer.status >= 400 and answer.status != _LOGIN_WANTED:
        raise Failure(f"{where.geturl()} answers {answer.status} {answer.reason}.")
    click.echo(lines(text.strip().split("\n")[0][:1000]))


def _address(session: Session) -> str:
    listeners = settings_of(os.environ.get(VARIABLE, ""), os.environ).get(BIND_LISTENERS.key)
    if listeners is None:
        return f"http://{session.server.split(',')[0]}/health"
    first = BIND_LISTENERS.parse(listeners)[0]
    host = "localhost" if first.host in _EVERYWHERE else first.host
    return f"http://{f'[{host}]' if ':' in host else host}:{first.port}/health"


def _connection(scheme: str, host: str, port: int | None, timeout: float) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=timeout)
    context = ssl.create_default_context()
    if host in _THIS_MACHINE:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
