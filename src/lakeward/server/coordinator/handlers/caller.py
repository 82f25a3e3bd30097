"""Caller: what a handler may know about where a request came from."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.server.whereabouts.cluster_map import Door


@dataclass(frozen=True, slots=True)
class Caller:
    """The version of the API asked for, and the listener that the request came in by."""

    version: int
    door: Door
