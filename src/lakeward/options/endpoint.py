"""Endpoint: a named address a server listens on or is known by, written NAME://host:port."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.options.kinds import Kind

PORT_MAX = 65535
_ENDPOINT = re.compile(r"([A-Za-z0-9_.-]+)://(\[[0-9A-Fa-f:.%]+\]|[^\s:\[\]/,]*):(\d{1,5})")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One listener. An empty host is every interface, port 0 a free one."""

    name: str
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """Read NAME://host:port; IPv6 hosts stand in brackets."""
        match = _ENDPOINT.fullmatch(text.strip())
        if match is None or int(match[3]) > PORT_MAX:
            raise ValueError(f"'{text}' is not a listener; write NAME://host:port")
        return cls(match[1], match[2].strip("[]"), int(match[3]))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


def _parse_endpoints(text: str) -> tuple[Endpoint, ...]:
    endpoints = tuple(Endpoint.parse(part) for part in text.split(",") if part.strip())
    if not endpoints:
        raise ValueError("no listener is named; write NAME://host:port")
    names = [e.name for e in endpoints]
    if len(set(names)) != len(names):
        raise ValueError(f"a listener is named twice in '{text}'")
    ports = [e.port for e in endpoints if e.port]
    if len(set(ports)) != len(ports):
        raise ValueError(f"two listeners share a port in '{text}'")
    return endpoints


ENDPOINTS = Kind("listeners", _parse_endpoints, lambda endpoints: ",".join(map(str, endpoints)))
