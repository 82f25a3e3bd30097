"""Listeners: NAME://host:port."""

from __future__ import annotations

import pytest

from lakeward.options.endpoint import ENDPOINTS, Endpoint


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("FLUSS://localhost:9123", Endpoint("FLUSS", "localhost", 9123)),
        (" CLIENT://0.0.0.0:0 ", Endpoint("CLIENT", "0.0.0.0", 0)),
        ("A://[::1]:65535", Endpoint("A", "::1", 65535)),
        ("A://:9123", Endpoint("A", "", 9123)),
    ],
)
def test_a_listener_is_read_and_shown(text: str, endpoint: Endpoint) -> None:
    """Name, host and port come apart and together again; IPv6 stands in brackets."""
    assert Endpoint.parse(text) == endpoint
    assert str(endpoint) == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "localhost:9123",
        "A://localhost",
        "A://localhost:65536",
        "A://::1:9123",
        "A://a:1,A://b:2",
        "A://a:1,B://b:1",
        "A://a b:1",
        "A://host:-1",
    ],
)
def test_what_is_no_list_of_listeners_is_refused(text: str) -> None:
    """Names and ports are distinct, and every part is there."""
    with pytest.raises(ValueError, match=r"."):
        ENDPOINTS.parse(text)


def test_several_listeners_may_share_port_zero() -> None:
    """Port 0 is any free one, so it is not shared."""
    assert [e.name for e in ENDPOINTS.parse("A://x:0, B://x:0")] == ["A", "B"]
