"""No API is served without a rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeward.protocol.api import Api
from lakeward.server.grants.guard import guard_all
from lakeward.server.grants.rules import rule_table
from lakeward.server.grants.rules.rule import Judge, Open
from lakeward.server.grants.rules.rule_table import RULES, TIERING_CALLS

_GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "security.md"
NOBODY: Judge = None  # type: ignore[assignment]


def test_every_api_has_a_rule() -> None:
    """One that is added to the protocol fails here until somebody has decided who may ask for it."""
    assert set(RULES) == set(Api)


def test_an_api_without_a_rule_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the table have a gap, the server does not start."""
    monkeypatch.delitem(rule_table.RULES, Api.DROP_TABLE)
    with pytest.raises(AssertionError, match="DROP_TABLE"):
        guard_all({Api.DROP_TABLE: _answer}, NOBODY, tiering_is_open=False)


def test_what_is_open_is_what_a_login_takes() -> None:
    """Nothing else is for everybody; tiering is where an option says so."""
    assert {api for api, rule in RULES.items() if isinstance(rule, Open)} == {Api.API_VERSIONS, Api.AUTHENTICATE}
    served = dict.fromkeys(TIERING_CALLS, _answer)
    assert guard_all(served, NOBODY, tiering_is_open=True) == served
    assert all(one is not _answer for one in guard_all(served, NOBODY, tiering_is_open=False).values())


def test_the_guide_lists_the_rights() -> None:
    """The table there is the table here."""
    rows = [f"| {api.name} | {RULES[api].right} |" for api in sorted(RULES, key=lambda api: api.name)]
    lines = _GUIDE.read_text().splitlines()
    assert [line for line in lines if line.partition(" | ")[0].removeprefix("| ") in Api.__members__] == rows


def _answer(_request: Any, _exchange: Any) -> str:
    return "answered"
