"""Caller: what a handler may know about where a request came from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """The version of the API asked for, and the advertised address of the listener the request came in on."""

    version: int
    host: str
    port: int
