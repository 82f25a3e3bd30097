"""Guard: the one place where rights are asked for, before any handler."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.server.grants.rules.rule import Judge, Open
from lakeward.server.grants.rules.rule_table import RULES, TIERING_CALLS


def guard_all(handlers: Mapping[Api, Handler], judge: Judge, *, tiering_is_open: bool) -> dict[Api, Handler]:
    """Every handler behind the rule of its API; one without a rule is our mistake, and nobody is let through."""
    rules = RULES | (dict.fromkeys(TIERING_CALLS, Open()) if tiering_is_open else {})
    unruled = [api.name for api in handlers if api not in rules]
    assert not unruled, f"no rule says who may ask for {', '.join(unruled)}"
    return {api: rules[api].guard(handler, judge) for api, handler in handlers.items()}
