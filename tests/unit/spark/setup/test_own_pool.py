"""Streams share the cores of a session fairly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from lakeward.spark.setup.own_pool import own_pool


def test_a_stream_is_started_in_its_pool_and_what_follows_is_not() -> None:
    """The thread is as it was afterwards, also when the start fails."""
    properties: dict[str, str | None] = {"spark.scheduler.pool": "before"}
    context = SimpleNamespace(getLocalProperty=properties.get, setLocalProperty=properties.__setitem__)
    session: Any = SimpleNamespace(sparkContext=context)
    try:
        with own_pool(session, "copy"):
            assert properties["spark.scheduler.pool"] == "copy"
            raise RuntimeError
    except RuntimeError:
        pass
    assert properties["spark.scheduler.pool"] == "before"
