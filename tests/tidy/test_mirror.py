"""Unit tests mirror the sources: tests/unit/x/test_y.py stands for src/lakeward/x/y.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_tree import PACKAGE, ROOT

UNIT = ROOT / "tests" / "unit"
TESTS = sorted(UNIT.rglob("test_*.py"))
#: They stand for no single module: these may only become fewer.
STRAYS = {
    "client/test_decoder_poison.py",
    "remote/test_directory_leftovers.py",
    "server/coordinator/handlers/test_snapshot.py",
    "server/coordinator/lake/test_recording.py",
    "server/coordinator/test_known_wordings.py",
    "server/coordinator/test_recording.py",
    "server/remote/test_history_elsewhere.py",
    "spark/bridge/test_bridge.py",
    "storage/disk/test_atomic_file.py",
    "storage/kv/test_decimal_sums.py",
    "storage/log/test_clock_jump.py",
    "storage/log/test_log_gaps.py",
    "storage/log/test_recorded_segment.py",
    "test_public_names.py",
}


@pytest.mark.parametrize("test", TESTS, ids=lambda path: str(path.relative_to(UNIT)))
def test_a_unit_test_stands_for_a_module(test: Path) -> None:
    """A module of that name in the same place, or a folder tested by its front door; test_y_topic.py is y's too."""
    place = test.relative_to(UNIT)
    words = place.stem.removeprefix("test_").split("_")
    sources = [PACKAGE / place.parent / "_".join(words[:count]) for count in range(1, len(words) + 1)]
    found = [source for source in sources if source.with_suffix(".py").is_file() or source.is_dir()]
    assert found or str(place) in STRAYS, f"{place} stands for none of {[source.name for source in sources]}"
