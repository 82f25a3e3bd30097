"""KnownHosts: which names the console answers to."""

from __future__ import annotations

import pytest

from lakeward.web.known_hosts import KnownHosts


@pytest.mark.parametrize("host", ["localhost:9180", "127.0.0.1:9180", "[::1]:9180", "LOCALHOST"])
def test_this_machine_is_known(host: str) -> None:
    """With any port."""
    assert KnownHosts("127.0.0.1").has(host)


@pytest.mark.parametrize("host", ["evil.example:9180", "localhost.evil.example", "10.0.0.7:9180", "", "[::1", "a b"])
def test_other_names_are_not(host: str) -> None:
    """A name that somebody has pointed to this machine is a name of theirs."""
    assert not KnownHosts("127.0.0.1").has(host)


def test_on_a_network_addresses_in_numbers_are_known_and_names_that_were_given() -> None:
    """No DNS answer can make a page of others count as one at an address."""
    hosts = KnownHosts("0.0.0.0", ["Console.example.org"])
    assert hosts.has("10.0.0.7:9180")
    assert hosts.has("console.example.org")
    assert not hosts.has("evil.example")


def test_a_form_comes_from_the_same_host_and_port() -> None:
    """Browsers say where from; programs have no cookies of a browser."""
    hosts = KnownHosts("127.0.0.1")
    assert hosts.is_same_origin("http://127.0.0.1:9180", "127.0.0.1:9180")
    assert hosts.is_same_origin(None, "127.0.0.1:9180")
    assert not hosts.is_same_origin("http://127.0.0.1:8000", "127.0.0.1:9180")
    assert not hosts.is_same_origin("null", "127.0.0.1:9180")
    assert not hosts.is_same_origin("http://evil.example", "evil.example")
