"""lakeward remote: how the copies in remote storage do."""

from __future__ import annotations

import base64
import http.client
import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say, show_json, show_listing
from lakeward.options.authentication import PLAIN

if TYPE_CHECKING:
    from lakeward.rpc.client_tls import ClientTls
    from lakeward.rpc.login import Login

_TIMEOUT_S = 10
_OK = 200
_COLUMNS = (
    "table",
    "local_segments",
    "local_bytes",
    "remote_segments",
    "remote_bytes",
    "lag_rows",
    "lag_bytes",
    "lag_seconds",
)


@click.group(cls=Verbs)
def remote() -> None:
    """See what is in remote storage, and what is still on its way."""


@remote.command("status")
@output_option()
@on_server
def remote_status(session: Session, output: str) -> None:
    """Show segments and bytes here and there, how far copies are behind, and what fails.

    Lag is what would be lost with the server's disk. Of logs that nobody has touched since the server started, it is
    told in bytes only.

    \b
    Examples:
      lakeward remote status
      lakeward remote status -o json
    """
    document = _ask(session)
    if output == "json":
        show_json(document)
        return
    rows = [*document["tables"], {"table": "in all", **document}] if document["tables"] else []
    shown = [{**row, "lag_seconds": f"{row['lag_seconds']:.1f}"} for row in rows]
    show_listing(shown, _COLUMNS, output, "No table has a log yet.", numbers=("lag_seconds",))
    if document["is_failing"]:
        say(f"Copies to {document['store']} fail and are tried again: {document['reason']}")
    else:
        say(f"Copies to {document['store']}: {document['buckets_waiting']} buckets wait for their turn.")


def _ask(session: Session) -> dict[str, Any]:
    """The page of the server; it is asked by HTTP, with the login and the encryption of all other requests."""
    from lakeward.client.cluster.cluster import addresses
    from lakeward.client.forms.settings import ClientSettings

    address = addresses(session.server)[0]
    security = ClientSettings.of(session.credentials.options()).security
    login = {} if security.login is None else {"Authorization": _basic(security.login, security.tls is not None)}
    try:
        with closing(_connection(address.host, address.port, security.tls)) as connection:
            connection.request("GET", "/remote", headers=login)
            answer = connection.getresponse()
            content = answer.read()
            document: dict[str, Any] = json.loads(content) if answer.status == _OK else {}
    except (OSError, ValueError, http.client.HTTPException) as wrong:
        raise Failure(f"The server at {address} does not tell: {wrong}. Is it a Lakeward server?") from wrong
    if answer.status != _OK:
        raise Failure(content.decode(errors="replace").strip() or f"The server at {address} said {answer.status}.")
    return document


def _connection(host: str, port: int, tls: ClientTls | None) -> http.client.HTTPConnection:
    if tls is None:
        return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=tls.context())


def _basic(login: Login, is_encrypted: bool) -> str:
    """HTTP's way to log in, which sends the password as PLAIN does."""
    if login.mechanism != PLAIN and not is_encrypted:
        raise Failure(f"HTTP would send the password, which {login.mechanism} is to avoid: use TLS, or PLAIN.")
    return f"Basic {base64.b64encode(f'{login.user}:{login.password.reveal()}'.encode()).decode()}"
