"""lakeward remote: how the copies in remote storage do."""

from __future__ import annotations

import json
from typing import Any

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say, show_json, show_listing
from lakeward.errors import LakewardError

_TIMEOUT_S = 10
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
    from lakeward.client.cluster.http_page import read_page
    from lakeward.client.forms.settings import ClientSettings

    address = addresses(session.server)[0]
    security = ClientSettings.of(session.credentials.options()).security
    try:
        page = read_page(address.host, address.port, "/remote", security, _TIMEOUT_S)
        document: dict[str, Any] = json.loads(page.text) if page.is_there else {}
    except LakewardError as wrong:
        raise Failure(wrong.message) from wrong
    except ValueError as wrong:
        raise Failure(f"The server at {address} does not tell: {wrong}. Is it a Lakeward server?") from wrong
    if not page.is_there:
        raise Failure(page.text.strip() or f"The server at {address} said {page.status}.")
    return document
