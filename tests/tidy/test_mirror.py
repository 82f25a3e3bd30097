"""Unit tests mirror the sources: tests/unit/x/test_y.py stands for src/lakeward/x/y.py."""

from __future__ import annotations

from pathlib import Path

from source_tree import PACKAGE, ROOT

UNIT = ROOT / "tests" / "unit"
TESTS = sorted(UNIT.rglob("test_*.py"))
#: The door of the whole package.
STRAYS = {"test_public_names.py"}


def stands_for_a_module(test: Path) -> bool:
    """Whether there is a module of that name in the same place, or a folder; test_y_topic.py is y's too."""
    place = test.relative_to(UNIT)
    words = place.stem.removeprefix("test_").split("_")
    sources = [PACKAGE / place.parent / "_".join(words[:count]) for count in range(1, len(words) + 1)]
    return any(source.with_suffix(".py").is_file() or source.is_dir() for source in sources)


def test_a_unit_test_stands_for_a_module() -> None:
    """Whoever changes a module knows where its tests are; a folder may be tested by its front door."""
    strays = {str(test.relative_to(UNIT)) for test in TESTS if not stands_for_a_module(test)}
    assert strays - STRAYS == set()
