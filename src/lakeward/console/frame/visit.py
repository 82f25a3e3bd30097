"""Visit: one request of one person, and what its page needs to answer it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from lakeward.client.tables.connection import AsyncConnection
from lakeward.console.cluster.access import ClusterAccess
from lakeward.console.cluster.reports import Reports
from lakeward.console.frame.house import House
from lakeward.console.frame.live import EventStream
from lakeward.console.frame.settings import ConsoleSettings

#: Sentences that a redirect may carry to the next page, by a word; text of others never comes from an address.
_NOTES = {
    "created": "Created.",
    "altered": "Changed.",
    "dropped": "Dropped.",
    "done": "Done.",
    "round": "A round was asked for; it begins as soon as a tiering service looks.",
    "paused": "Paused. A round under way ends as usual.",
    "resumed": "Resumed.",
    "reset": "Reset. Readers take it over when they start again.",
    "forgotten": "Forgotten.",
    "stopping": "Asked to stop; it does when its micro-batch is written.",
    "left": "You have logged out.",
}


class Visit:
    """What a handler is given.

    connection()  the client's connection, as whoever visits; raises LakewardError, which becomes a polite page
    reports       /health, /metrics and /remote of a Lakeward; None from each where there is none
    form          what was sent; its token has been checked
    path_value(…)  a part of the path; query(…) a parameter of the address, field(…) a field of the form
    show(…)       a page from a template
    answer_json(…)  a document, for a script of a page
    go(…)         after a form: on to a page, with a short note
    stream(…)     live events
    """

    def __init__(self, house: House, request: Request, visitor: str, access: ClusterAccess, is_guest: bool) -> None:
        self.house = house
        self.request = request
        self.visitor = visitor
        self.access = access
        #: Whether nobody has logged in here.
        self.is_guest = is_guest
        self.form = FormData()
        self.navigation: list[dict[str, Any]] = []
        self.title = ""

    @property
    def settings(self) -> ConsoleSettings:
        """Which cluster is shown, and whether it may be changed."""
        return self.house.settings

    @property
    def reports(self) -> Reports:
        """What a Lakeward server tells by HTTP."""
        return self.access.reports

    async def connection(self) -> AsyncConnection:
        """The connection of whoever visits."""
        return await self.access.connection()

    def path_value(self, name: str) -> str:
        """A part of the path, as the route names it."""
        return str(self.request.path_params[name])

    def query(self, name: str, otherwise: str = "") -> str:
        """A parameter of the address."""
        return self.request.query_params.get(name, otherwise)

    def field(self, name: str) -> str:
        """A field of the form as text; empty if it is missing or is a file."""
        value = self.form.get(name, "")
        return value if isinstance(value, str) else ""

    def show(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page: its template with these values, and those that every page has."""
        known = {
            "title": self.title,
            "navigation": self.navigation,
            "bootstrap": self.settings.bootstrap,
            "read_only": self.settings.read_only,
            "user": self.access.user,
            "may_leave": not self.is_guest,
            "form_token": self.house.tokens.form_token(self.visitor),
            "note": _NOTES.get(self.query("note"), ""),
            "path": self.request.url.path,
        }
        return HTMLResponse(self.house.templates.render(template, known | values), status)

    def go(self, path: str, note: str = "") -> Response:
        """Send the browser on to a page of the console, with a note of `_NOTES`."""
        assert path.startswith("/")
        assert not path.startswith("//")
        mark = f"{'&' if '?' in path else '?'}note={note}" if note else ""
        return RedirectResponse(quote(path, safe="/?&=%#:.,~-_") + mark, 303)

    def answer_json(self, document: Any, status: int = 200) -> Response:
        """A document, for a script of a page."""
        return JSONResponse(document, status)

    def stream(self, events: AsyncIterator[Any]) -> Response:
        """Events as they happen, each a document; ends when the browser goes or the console stops."""
        return EventStream(self.house, events)
