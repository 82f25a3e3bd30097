"""The official client, connected to the server under test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest
from server_process import ServerProcess

if TYPE_CHECKING:
    from pyfluss_session import Session


@pytest.fixture
async def session(server: ServerProcess, database: str) -> AsyncIterator[Session]:
    """A connection of pyfluss that does not linger before it sends."""
    from pyfluss_session import Session

    async with await Session.open(server.bootstrap, database, writer__batch_timeout_ms="0") as opened:
        yield opened
