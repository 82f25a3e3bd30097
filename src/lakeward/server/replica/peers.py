"""Peers: the other servers of the cluster, as a replica asks them."""

from __future__ import annotations

from typing import Any, Protocol

from lakeward.protocol.api import Api


class Peers(Protocol):
    """Whom to ask; an error is raised as it was given, NETWORK when nobody answers."""

    async def ask_server(self, server_id: int, api: Api, request: Any) -> Any:
        """Ask a tablet server."""
        ...

    async def ask_coordinator(self, api: Api, request: Any) -> Any:
        """Ask the coordinator."""
        ...
