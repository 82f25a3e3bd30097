"""A lake beside the server under test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from server_process import ServerProcess
    from tiering_runs import Warehouse


@pytest.fixture
def lake(server: ServerProcess, tmp_path: Path) -> Iterator[Warehouse]:
    """A new warehouse, with a connection that knows it."""
    from tiering_runs import Warehouse  # loads the lake's libraries, which most tests do without

    opened = Warehouse(server.bootstrap, tmp_path / "lake", is_told=True)
    yield opened
    opened.close()


@pytest.fixture(params=["iceberg", "paimon"])
def tiered(request: pytest.FixtureRequest) -> dict[str, str]:
    """Properties of a table that goes into a lake of either format."""
    from tiering_runs import TIERED

    return {**TIERED, "table.datalake.format": request.param}
