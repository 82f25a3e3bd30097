"""Sessions: who has logged in, for how long."""

from __future__ import annotations

from lakeward.console.cluster.access import ClusterAccess
from lakeward.console.security.sessions import Sessions
from lakeward.runtime.clock import ManualClock


def access(user: str) -> ClusterAccess:
    """Somebody's way to a cluster that nobody asks."""
    return ClusterAccess("localhost:1", {}, {}).of_user(user, "secret")


async def test_a_login_lasts_while_it_is_used() -> None:
    """Each visit counts; an idle one is forgotten."""
    clock = ManualClock()
    sessions = Sessions(clock, idle_s=60)
    await sessions.begin("cookie", access("alice"))
    for _ in range(3):
        clock.advance(50_000)
        found = await sessions.find("cookie")
        assert found is not None
        assert found.user == "alice"
    clock.advance(61_000)
    assert await sessions.find("cookie") is None


async def test_there_are_no_more_than_a_bounded_number() -> None:
    """The one that was idle longest goes."""
    clock = ManualClock()
    sessions = Sessions(clock, idle_s=3600)
    for number in range(201):
        clock.advance(1)
        await sessions.begin(f"cookie {number}", access("alice"))
    assert await sessions.find("cookie 0") is None
    assert await sessions.find("cookie 200") is not None
    await sessions.end_all()
    assert await sessions.find("cookie 200") is None
