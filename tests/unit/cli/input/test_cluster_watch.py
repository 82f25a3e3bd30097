"""What serves tells that there is no cluster, once, and goes on when there is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.cli.input import cluster_watch
from lakeward.cli.input.session import Session
from lakeward.errors import ErrorCode, LakewardError


def watch(monkeypatch: pytest.MonkeyPatch, *answers: LakewardError | None) -> list[str]:
    """What is said where the cluster answers like this, each time it is asked."""
    left, said = list(answers), list[str]()

    def connect(_server: str, **_options: Any) -> Any:
        answer = left.pop(0)
        if answer is not None:
            raise answer
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(cluster_watch.lakeward, "connect", connect)
    monkeypatch.setattr(cluster_watch.time, "sleep", lambda _s: None)
    cluster_watch._watch(Session("db:9123"), said.append)
    assert not left
    return said


def test_a_cluster_that_is_away_is_told_of_once_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the address and what to do, and one when it is there."""
    away = ErrorCode.NETWORK.error("Cannot connect to db:9123: refused. Is the server running?")
    first, last = watch(monkeypatch, away, away, None)
    assert first.startswith("Cannot connect to db:9123: refused. Start the cluster (`lakeward serve`)")
    assert last == "The cluster at db:9123 is there."


@pytest.mark.parametrize("answer", [None, ErrorCode.AUTHENTICATE.error("Who are you?")])
def test_a_cluster_that_answers_is_not_spoken_of(monkeypatch: pytest.MonkeyPatch, answer: LakewardError | None) -> None:
    """Whatever it says to somebody who has not logged in."""
    assert watch(monkeypatch, answer) == []
