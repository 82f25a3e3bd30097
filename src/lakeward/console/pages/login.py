"""Login: who are you? What is typed goes to the cluster, which alone knows, and stays in this process."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from lakeward.console.frame.gate import LOGIN_PATH
from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.errors import DeniedError, InvalidError

#: Whoever guesses waits, and no more than a few guess at a time.
_PAUSE_S = 1.0
_trying = asyncio.Semaphore(4)


async def show_login(visit: Visit) -> Response:
    """The form."""
    return visit.show("login.html", wanted=_next_page(visit.query("next")), name="", message="")


async def log_in(visit: Visit) -> Response:
    """Try what was typed; somebody who is let in becomes another visitor, so that an old cookie is worth nothing."""
    name, password, wanted = visit.field("name"), visit.field("password"), _next_page(visit.field("next"))
    if not name or not password:
        return visit.show("login.html", 400, wanted=wanted, name=name, message="Type a name and a password.")
    async with _trying:
        try:
            access = visit.house.access.of_user(name, password)
            await access.connection()
        except (DeniedError, InvalidError):
            await asyncio.sleep(_PAUSE_S)
            message = "The cluster does not know this name with this password."
            return visit.show("login.html", 401, wanted=wanted, name=name, message=message)
    await visit.house.sessions.end(visit.visitor)
    visit.visitor = visit.house.tokens.new_visitor()
    await visit.house.sessions.begin(visit.visitor, access)
    return visit.go(wanted)


async def log_out(visit: Visit) -> Response:
    """Forget who this was."""
    await visit.house.sessions.end(visit.visitor)
    visit.visitor = visit.house.tokens.new_visitor()
    return visit.go(LOGIN_PATH, "left")


def _next_page(path: str) -> str:
    """Where to go next: a page of this console, never another site's."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"


PAGES = (
    Page(LOGIN_PATH, "Log in", show_login, is_public=True),
    Page(LOGIN_PATH, "Log in", log_in, method="POST", changes=False, is_public=True),
    Page("/logout", "Log out", log_out, method="POST", changes=False, is_public=True),
)
