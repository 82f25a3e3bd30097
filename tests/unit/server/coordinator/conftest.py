"""Fixtures for everything around the coordinator."""

from __future__ import annotations

import pytest

from coordinator.coordinator_world import World


@pytest.fixture
def world() -> World:
    """A fresh coordinator in memory."""
    return World()
