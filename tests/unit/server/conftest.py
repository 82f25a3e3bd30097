"""Fixtures for everything around the coordinator."""

from __future__ import annotations

from pathlib import Path

import pytest
from coordinator_world import World
from lake_world import TIERED, LakeWorld


@pytest.fixture
def world() -> World:
    """A fresh coordinator in memory."""
    return World()


@pytest.fixture
def lake(tmp_path: Path) -> LakeWorld:
    """A cluster with a lake and one tiered table of three buckets."""
    world = LakeWorld(datalake_format="iceberg", data_dir=str(tmp_path))
    world.create(properties=TIERED, count=3)
    return world
