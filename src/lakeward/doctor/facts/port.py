"""What listens where clients are sent."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Listener(enum.StrEnum):
    """Who answers at an address."""

    LAKEWARD = "Lakeward"
    FLUSS = "Apache Fluss"
    TLS = "a server that speaks TLS only"
    HTTP = "a web server"
    OTHER = "another program"
    SILENT = "a program that says nothing"
    NOBODY = "nobody"
    UNKNOWN_HOST = "no such host"
    OUT_OF_REACH = "out of reach"

    @property
    def is_ours(self) -> bool:
        """Whether clients of Fluss can talk to it."""
        return self in {Listener.LAKEWARD, Listener.FLUSS}


@dataclass(frozen=True, slots=True)
class PortFacts:
    """An address and who answers there; `detail` is what the system or the program said."""

    address: str
    listener: Listener
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ReachedServer:
    """A server as the cluster names it, and why it cannot be reached from here, if so."""

    role: str
    id: int
    address: str
    trouble: str | None = None
