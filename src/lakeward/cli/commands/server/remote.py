"""lakeward remote: how the copies in remote storage do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import click

import lakeward
from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say, show_json, show_listing

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
    document = asyncio.run(_ask(session))
    if output == "json":
        show_json(document)
        return
    rows = [*document["tables"], {"table": "in all", **document}] if document["tables"] else []
    shown = [{**row, "lag_seconds": f"{row['lag_seconds']:.1f}"} for row in rows]
    show_listing(shown, _COLUMNS, output, "No table has a log yet.", numbers=("lag_seconds",))
    if document["silent"]:
        say(f"Not counted, because they do not tell: {', '.join(document['silent'])}.")
    if document["is_failing"]:
        say(f"Copies to {document['store']} fail and are tried again: {document['reason']}")
    else:
        say(f"Copies to {document['store']}: {document['buckets_waiting']} buckets wait for their turn.")


async def _ask(session: Session) -> dict[str, Any]:
    """The pages of the servers; they are asked by HTTP, with the login and the encryption of all other requests."""
    try:
        async with await lakeward.aconnect(session.server, **session.options()) as connection:
            page = await connection.remote_page(timeout_s=_TIMEOUT_S)
        document: dict[str, Any] = json.loads(page.text) if page.is_there else {}
    except ValueError as wrong:
        raise Failure(f"The server at {session.server} does not tell: {wrong}. Is it a Lakeward server?") from wrong
    if not page.is_there:
        raise Failure(page.text.strip() or f"The server at {session.server} said {page.status}.")
    return document
