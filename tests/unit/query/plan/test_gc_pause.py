"""Garbage collection rests while a plan is made."""

from __future__ import annotations

import gc

import pytest

from lakeward.query.plan.gc_pause import no_collections


def test_it_is_as_before_afterwards() -> None:
    """Also when planning fails, and when somebody has turned it off for good."""

    def fails() -> None:
        with no_collections():
            assert not gc.isenabled()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert gc.isenabled()
    gc.disable()
    try:
        with no_collections():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
