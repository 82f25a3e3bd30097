"""What is said of listeners that are open."""

from __future__ import annotations

import pytest

from lakeward.options.authentication import ListenerProtocol
from lakeward.options.endpoint import Endpoint
from lakeward.server.access.open_doors import warnings_of


@pytest.mark.parametrize(
    ("host", "protocol", "told"),
    [
        ("localhost", "PLAINTEXT", ""),
        ("127.0.0.1", "PLAINTEXT", ""),
        ("::1", "PLAINTEXT", ""),
        ("", "PLAINTEXT", "asks nobody"),
        ("0.0.0.0", "PLAINTEXT", "asks nobody"),
        ("10.0.0.1", "PLAINTEXT", "asks nobody"),
        ("db.example.org", "SSL", "asks nobody"),
        ("db.example.org", "SASL", "not encrypted"),
        ("db.example.org", "SASL_SSL", ""),
    ],
)
def test_a_listener_that_others_reach_is_told(host: str, protocol: str, told: str) -> None:
    """One sentence that names it, and what to do."""
    listener = Endpoint("FLUSS", host, 9123)
    found = warnings_of([listener], {"FLUSS": ListenerProtocol[protocol]}, clients_show_certificates=False)
    assert len(found) == (1 if told else 0)
    assert all(told in one and str(listener) in one and "docs/guides/security.md" in one for one in found)


def test_certificates_of_clients_are_as_good_as_a_login() -> None:
    """Where every client must show one."""
    listener, protocols = Endpoint("FLUSS", "0.0.0.0", 9123), {"FLUSS": ListenerProtocol.SSL}
    assert warnings_of([listener], protocols, clients_show_certificates=True) == []
