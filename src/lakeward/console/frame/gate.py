"""Gate: in front of every page. Who is it, may this form be sent from here, and may anything change?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lakeward.console.frame.failures import Failure, failure_of, failure_of_status
from lakeward.console.frame.house import House
from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.errors import ErrorCode, LakewardError

LOGIN_PATH = "/login"
_TOKEN_FIELD = "form_token"  # noqa: S105 - the name of a field
_FORM_BYTES_MAX = 1 << 20
_FIELDS_MAX = 2000
#: What Starlette says of itself; a page has better sentences.
_PHRASES = frozenset(status.phrase for status in HTTPStatus)


class Gate:
    """Makes endpoints of pages."""

    def __init__(self, house: House, pages: Sequence[Page]) -> None:
        self._house = house
        labels = sorted((page for page in pages if page.nav), key=lambda page: page.position)
        self._navigation = [(page.nav, page.path) for page in labels]

    def endpoint(self, page: Page) -> Callable[[Request], Awaitable[Response]]:
        """What answers requests for a page."""

        async def answer(request: Request) -> Response:
            visit = await self._visit(request)
            visit.title = page.title
            try:
                response = await self._let_in(page, visit)
            except LakewardError as wrong:
                if wrong.code is ErrorCode.AUTHENTICATE and not page.is_public:
                    await self._house.sessions.end(visit.visitor)
                    response = _to_login(request)
                else:
                    response = self.show_failure(visit, failure_of(wrong))
            self._remember(visit, response)
            return response

        return answer

    async def _let_in(self, page: Page, visit: Visit) -> Response:
        if page.method != "GET":
            await self._check_form(page, visit)
        if not page.is_public and visit.is_guest and await visit.access.asks_login():
            return _to_login(visit.request)
        return await page.handler(visit)

    async def _check_form(self, page: Page, visit: Visit) -> None:
        request, house = visit.request, self._house
        if not house.hosts.is_same_origin(request.headers.get("origin"), request.headers.get("host", "")):
            raise HTTPException(403, "The form was sent from a page of another origin.")
        await _bound_body(request)
        visit.form = await request.form(max_files=0, max_fields=_FIELDS_MAX, max_part_size=_FORM_BYTES_MAX)
        if not house.tokens.is_form_token(visit.visitor, visit.field(_TOKEN_FIELD)):
            raise HTTPException(403, "The form is not, or no longer, one of this console: it may have been restarted.")
        if house.settings.read_only and page.is_refused_read_only:
            raise HTTPException(403, "This console is read-only: it was started with --read-only.")

    async def _visit(self, request: Request) -> Visit:
        cookie = request.cookies.get(self._house.cookie, "")
        visitor = cookie if self._house.tokens.is_visitor(cookie) else self._house.tokens.new_visitor()
        access = await self._house.sessions.find(visitor)
        visit = Visit(self._house, request, visitor, access or self._house.access, access is None)
        visit.navigation = [
            {"label": label, "path": path, "is_here": _is_here(request.url.path, path)}
            for label, path in self._navigation
        ]
        return visit

    def show_failure(self, visit: Visit, failure: Failure) -> Response:
        """A page that says why there is no other."""
        visit.title = failure.title
        return visit.show("failure.html", failure.status, failure=failure)

    async def answer_exception(self, request: Request, wrong: Exception) -> Response:
        """The page for what no page has answered: an address that is not there, a form that is refused, a bug."""
        status = wrong.status_code if isinstance(wrong, HTTPException) else 500
        detail = wrong.detail if isinstance(wrong, HTTPException) and wrong.detail not in _PHRASES else ""
        visit = await self._visit(request)
        response = self.show_failure(visit, failure_of_status(status, detail))
        if isinstance(wrong, HTTPException):
            response.headers.update(wrong.headers or {})
        return response

    def _remember(self, visit: Visit, response: Response) -> None:
        """Let the browser keep who it is; the cookie is no script's, and no other site's."""
        if visit.request.cookies.get(self._house.cookie) != visit.visitor:
            response.set_cookie(
                self._house.cookie,
                visit.visitor,
                path="/",
                secure=visit.request.url.scheme == "https",
                httponly=True,
                samesite="strict",
            )


async def _bound_body(request: Request) -> None:
    """Read the form, and no more than a form may have; it is then kept by the request."""
    size, parts = 0, []
    async for part in request.stream():
        size += len(part)
        if size > _FORM_BYTES_MAX:
            raise HTTPException(413)
        parts.append(part)
    request._body = b"".join(parts)


def _to_login(request: Request) -> Response:
    if request.headers.get("accept", "").startswith("text/event-stream"):
        raise HTTPException(401, "Log in first.")
    wanted = request.url.path if request.method == "GET" else "/"
    return RedirectResponse(f"{LOGIN_PATH}?next={quote(wanted, safe='/')}", 303)


def _is_here(path: str, of: str) -> bool:
    return path == of if of == "/" else path == of or path.startswith(of + "/")
