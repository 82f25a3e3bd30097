"""KnownHosts: the names that a web server of ours answers to.

A page of somebody else can have its own name point to this machine (DNS rebinding); its requests then count as being of
the same origin, but they carry that name. An address in numbers has no name to be pointed elsewhere.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from lakeward.runtime.process.public_port import is_loopback

_OWN = ("localhost", "127.0.0.1", "::1")


class KnownHosts:
    """Names and addresses under which browsers may reach the console."""

    def __init__(self, bind: str, names: Iterable[str] = ()) -> None:
        self._is_open = not is_loopback(bind)
        self._names = {name.lower() for name in (*_OWN, bind, *names)}
        if self._is_open:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def has(self, host: str) -> bool:
        """Whether a Host header names this console, with any port."""
        name = _name(f"//{host}")
        return name in self._names or (self._is_open and _is_address(name))

    def is_same_origin(self, origin: str | None, host: str) -> bool:
        """Whether a request that changes something comes from a page of this console.

        Browsers send Origin with every POST; one without it is of a program, and a program has no page's cookies.
        """
        if origin is None:
            return True
        try:
            return urlsplit(origin).netloc.lower() == host.lower() and self.has(host)
        except ValueError:
            return False


def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
