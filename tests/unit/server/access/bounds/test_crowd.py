"""How many may be here at once."""

from __future__ import annotations

from lakeward.server.access.bounds.crowd import Crowd


def test_there_are_places_for_so_many() -> None:
    """In all and of one address; who goes makes room."""
    crowd = Crowd(places=5, places_per_address=2)
    assert [crowd.enter("10.0.0.1") for _ in range(2)] == ["", ""]
    assert crowd.enter("10.0.0.1") == "2 connections of 10.0.0.1 are open"
    assert [crowd.enter(f"2001:db8::{n}") for n in range(2)] == ["", ""]
    assert "2001:db8::/64" in crowd.enter("2001:db8::9")
    assert crowd.enter("10.0.0.2") == ""
    assert crowd.enter("10.0.0.3") == "5 connections are open"
    crowd.leave("10.0.0.1")
    assert crowd.enter("10.0.0.3") == ""


def test_this_machine_has_no_bound_of_its_own() -> None:
    """Programs beside the server are its owner's."""
    crowd = Crowd(places=8, places_per_address=1)
    assert [crowd.enter(one) for one in ("127.0.0.1", "::1") * 4] == [""] * 8
    assert crowd.enter("127.0.0.1") == "8 connections are open"


def test_nobody_is_remembered_who_has_gone() -> None:
    """A million addresses that come and go leave nothing."""
    crowd = Crowd(places=10, places_per_address=1)
    for number in range(100):
        assert crowd.enter(f"10.0.0.{number}") == ""
        crowd.leave(f"10.0.0.{number}")
    assert not crowd._taken
