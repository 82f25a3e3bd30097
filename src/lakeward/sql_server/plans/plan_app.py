"""POST /v1/plan: plans by HTTP, for whoever logs in as for every other door."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lakeward.errors import DeniedError, ErrorCode, LakewardError, NotFoundError, RetriableError
from lakeward.sql_server.access.accounts import Member
from lakeward.sql_server.access.basic import read_basic
from lakeward.sql_server.frame.house import House
from lakeward.sql_server.plans.plan_ask import plan_answer
from lakeward.web.web_server import web_config

_log = logging.getLogger(__name__)
_BODY_BYTES_MAX = 1 << 20
_STOP_S = 1
_PATIENCE_S = 30.0


class PlanServer(uvicorn.Server):
    """One port, on the loop of whoever starts it, which also says when to stop."""

    def __init__(self, house: House, listener: socket.socket, *, takes_passwords: bool) -> None:
        settings = house.settings
        self._house = house
        self._listener = listener
        self._takes_passwords = takes_passwords
        app = Starlette(
            routes=[Route("/v1/plan", self._plan, methods=["POST"])],
            exception_handlers={404: _elsewhere, 405: _elsewhere},
        )
        super().__init__(web_config(app, settings.certificate_file, settings.key_file, lifespan="off", stop_s=_STOP_S))

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the whole server's."""
        yield

    async def run_until(self, stopping: asyncio.Event) -> None:
        """Serve until it is told to stop."""
        serving = asyncio.create_task(self.serve([self._listener]))
        await stopping.wait()
        self.should_exit = True
        await serving

    async def _plan(self, request: Request) -> Response:
        try:
            member = await asyncio.to_thread(self._member, request.headers.get("authorization", ""))
        except LakewardError as wrong:
            return _refusal(wrong)
        try:
            asked = json.loads(await _body(request))
            return JSONResponse(await asyncio.to_thread(self._answer, member, asked))
        except LakewardError as wrong:
            return _refusal(wrong)
        except (ValueError, RecursionError):
            return _refusal(ErrorCode.INVALID_SCAN_REQUEST.error("The body is no JSON."))
        except Exception:  # noqa: BLE001 - told to nobody but the log
            _log.exception("A plan failed in a way that nobody foresaw")
            return JSONResponse({"error": "Something went wrong in the server; its log says what."}, 500)
        finally:
            self._house.accounts.leave(member)

    def _answer(self, member: Member, asked: Any) -> dict[str, Any]:
        with self._house.desk.places.place(f"plan of {member.name}", _PATIENCE_S, lambda: None):
            return plan_answer(member.conn, asked)

    def _member(self, header: str) -> Member:
        accounts = self._house.accounts
        if not accounts.asks_login():
            return accounts.guest()
        kind, _, text = header.partition(" ")
        if kind.lower() != "basic":
            raise ErrorCode.AUTHENTICATE.error("The cluster asks who you are: give user and password.")
        if not self._takes_passwords:
            raise ErrorCode.AUTHENTICATE.error("Passwords are taken from other machines by TLS alone.")
        login = read_basic(text)
        if login is None:
            raise ErrorCode.AUTHENTICATE.error("The login cannot be read.")
        return accounts.log_in(*login)


async def _elsewhere(_request: Request, wrong: Exception) -> Response:
    """Another path or method."""
    status = getattr(wrong, "status_code", 404)
    return JSONResponse({"error": "Plans are asked for by POST /v1/plan.", "code": "INVALID_SCAN_REQUEST"}, status)


async def _body(request: Request) -> bytes:
    held = bytearray()
    async for part in request.stream():
        held += part
        if len(held) > _BODY_BYTES_MAX:
            raise ErrorCode.INVALID_SCAN_REQUEST.error(f"The body has more than {_BODY_BYTES_MAX} bytes.")
    return bytes(held)


def _refusal(wrong: LakewardError) -> Response:
    headers = {}
    status = 400
    if wrong.code is ErrorCode.AUTHENTICATE:
        status, headers = 401, {"WWW-Authenticate": 'Basic realm="lakeward"'}
    elif isinstance(wrong, DeniedError):
        status = 403
    elif isinstance(wrong, NotFoundError):
        status = 404
    elif isinstance(wrong, RetriableError):
        status = 503
    return JSONResponse({"error": wrong.message, "code": wrong.code.name}, status, headers)
