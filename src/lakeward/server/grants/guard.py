"""Guard: the one place where rights are asked for, before any handler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.protocol.api import BETWEEN_SERVERS, Api
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.grants.rules.rule import Judge, Open
from lakeward.server.grants.rules.rule_table import RULES, TIERING_CALLS


def guard_all(handlers: Mapping[Api, Handler], judge: Judge, *, tiering_is_open: bool) -> dict[Api, Handler]:
    """Every handler behind the rule of its API; one without a rule is our mistake, and nobody is let through."""
    rules = RULES | (dict.fromkeys(TIERING_CALLS, Open()) if tiering_is_open else {})
    unruled = [api.name for api in handlers if api not in rules]
    assert not unruled, f"no rule says who may ask for {', '.join(unruled)}"
    return {api: rules[api].guard(handler, judge) for api, handler in handlers.items()}


def between_servers(handlers: Mapping[Api, Handler]) -> dict[Api, Handler]:
    """The same handlers; what servers say to each other is taken from servers alone."""
    return {api: _of_servers(handler) if api in BETWEEN_SERVERS else handler for api, handler in handlers.items()}


def _of_servers(handler: Handler) -> Handler:
    def handle(request: Any, exchange: Exchange) -> Any:
        connection = exchange.connection
        if not connection.is_internal and not connection.serves_cluster:
            raise ErrorCode.AUTHORIZATION.error(f"{exchange.api.name} is for the servers of the cluster alone.")
        return handler(request, exchange)

    return handle
