"""A while in which a client's next requests wait."""

from __future__ import annotations

from lakeward.rpc.rest import Rest


class Timer:
    """What a loop hands out."""

    def __init__(self, at: float) -> None:
        self.at = at
        self.is_cancelled = False

    def cancel(self) -> None:
        """Not any more."""
        self.is_cancelled = True


class Loop:
    """Time by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []
        self.due: list[object] = []

    def time(self) -> float:
        """Now."""
        return self.now

    def call_at(self, at: float, act: object) -> Timer:
        """Kept."""
        self.timers.append(Timer(at))
        self.due.append(act)
        return self.timers[-1]

    def fire(self, now: float) -> None:
        """The last timer's time has come."""
        self.now = now
        act = self.due[-1]
        assert callable(act)
        act()


def test_a_rest_ends_by_itself() -> None:
    """And says so once."""
    loop, woken = Loop(), []
    rest = Rest(loop, lambda: woken.append(1))  # type: ignore[arg-type]
    assert not rest.is_on
    rest.take(2.0)
    assert rest.is_on
    loop.fire(2.0)
    assert not rest.is_on
    assert woken == [1]


def test_a_longer_rest_takes_the_place_of_a_shorter_one() -> None:
    """Whatever is taken meanwhile, it ends when the longest does, with one timer at a time."""
    loop, woken = Loop(), []
    rest = Rest(loop, lambda: woken.append(1))  # type: ignore[arg-type]
    rest.take(2.0)
    rest.take(5.0)
    rest.take(1.0)
    assert len(loop.timers) == 1
    loop.fire(2.0)
    assert rest.is_on
    assert loop.timers[-1].at == 5.0
    loop.fire(5.0)
    assert woken == [1]


def test_a_rest_of_somebody_who_has_gone_is_dropped() -> None:
    """Nobody is woken."""
    loop = Loop()
    rest = Rest(loop, lambda: None)  # type: ignore[arg-type]
    rest.take(2.0)
    rest.drop()
    assert loop.timers[0].is_cancelled
    assert not rest.is_on
