"""Overview: how the cluster does, now."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.errors import DeniedError, LakewardError


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the cluster does well, in a word and a sentence."""

    word: str
    sentence: str
    level: str


async def show_overview(visit: Visit) -> Response:
    """The page."""
    try:
        connection = await visit.connection()
        databases = await connection.databases()
        servers = await connection.servers()
    except DeniedError:
        raise
    except LakewardError as wrong:
        health = Health("down", wrong.message, "bad")
        return visit.show("overview.html", health=health, databases=[], servers=[])
    report = await visit.reports.health()
    return visit.show("overview.html", health=_health(report), databases=databases, servers=servers)


def _health(report: dict[str, object] | None) -> Health:
    if report is None:
        return Health("answers", "The cluster answers. It is no Lakeward, so it tells no more of its health.", "good")
    status = str(report.get("status", "unknown"))
    if status == "ok":
        return Health(status, "The server says that it is well.", "good")
    return Health(status, f"The server says: {status}.", "bad")


PAGES = (Page("/", "Overview", show_overview, nav="Overview", position=0),)
