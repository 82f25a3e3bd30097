"""The official client, connected to the server under test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from pyfluss_session import Session
from server_process import ServerProcess


@pytest.fixture
async def session(server: ServerProcess, database: str) -> AsyncIterator[Session]:
    """A connection of pyfluss that does not linger before it sends."""
    async with await Session.open(server.bootstrap, database, writer__batch_timeout_ms="0") as opened:
        yield opened
