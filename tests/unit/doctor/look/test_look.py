"""Questions are asked side by side, and none holds up the others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from lakeward.doctor.look.look import Look
from lakeward.errors import ErrorCode


async def _answer() -> Mapping[str, Any]:
    return {"port": 1}


async def _refuse() -> Mapping[str, Any]:
    raise ErrorCode.NETWORK.error("No answer from http://me:hush@host/.")


async def _sleep() -> Mapping[str, Any]:
    await asyncio.Event().wait()
    return {}


async def test_what_fails_or_is_late_is_missing_with_its_reason() -> None:
    """And what was learned is there; a password in a reason is not."""
    look = Look()
    await look.ask({"port": _answer, "health clock": _refuse, "tables": _sleep}, 0.05)
    assert look.found == {"port": 1}
    assert look.missing == {
        "health": "No answer from http://host/.",
        "clock": "No answer from http://host/.",
        "tables": "there was no answer within 0.05 s.",
    }


async def test_a_bug_is_not_hidden() -> None:
    """What nobody expected is raised, not told as if it were the cluster's fault."""

    async def fail() -> Mapping[str, Any]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Look().ask({"port": fail}, 1)
