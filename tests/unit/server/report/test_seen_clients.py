"""Who has come is remembered, within bounds."""

from __future__ import annotations

from lakeward.server.report.seen_clients import SeenClients


def test_a_client_is_named_once() -> None:
    """However often it comes."""
    clients = SeenClients()
    clients.note("lakeward", "0.1.0")
    clients.note("fluss-java", "1.0")
    clients.note("lakeward", "0.1.0")
    assert clients.document() == [{"name": "fluss-java", "version": "1.0"}, {"name": "lakeward", "version": "0.1.0"}]


def test_strangers_fill_no_memory_and_no_terminal() -> None:
    """Texts are cut and made plain, and the newest few are kept."""
    clients = SeenClients()
    for number in range(1000):
        clients.note("\x1b[31m" + "x" * 1000, str(number))
    told = clients.document()
    assert len(told) == 50
    assert all(len(one["name"]) <= 40 and one["name"].isprintable() for one in told)
