"""lakeward remote: how the copies in remote storage do."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import click

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
    document = _ask(session.server)
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


def _ask(server: str) -> dict[str, Any]:
    address = server.split(",", 1)[0].strip()
    try:
        with urllib.request.urlopen(f"http://{address}/remote", timeout=_TIMEOUT_S) as answer:
            document: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as wrong:
        raise Failure(wrong.read().decode(errors="replace").strip() or str(wrong)) from wrong
    except (OSError, ValueError) as wrong:
        raise Failure(f"The server at {address} does not tell: {wrong}. Is it a Lakeward server?") from wrong
    return document
