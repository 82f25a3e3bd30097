"""Moving house as docs/guides/scale-out.md shows it, between two servers; tests/peer does so with Apache Fluss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from moving_story import run_moving_story
from server_process import ServerProcess


@pytest.mark.slow
def test_the_house_is_moved_as_the_guide_says(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """Every command of the section; one server has one copy of a row, so the factor is 1 here."""
    run_moving_story(new_server().bootstrap, new_server().bootstrap, tmp_path, factor=1)
