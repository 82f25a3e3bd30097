"""The page of what works with what names tests that are there, and the versions that are pinned."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PAGE = (_ROOT / "docs" / "reference" / "compatibility.md").read_text()
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
_TESTS = sorted(set(re.findall(r"`((?:tests/)?[\w/]*test_\w+\.py|tests/\w+)`", _PAGE)))
_PINS = [pin for pins in _PROJECT["optional-dependencies"].values() for pin in pins]


@pytest.mark.parametrize("name", _TESTS)
def test_a_test_that_is_named_is_there(name: str) -> None:
    """By its path, or by its name alone in a list of neighbours."""
    assert (_ROOT / name).exists() or (("/" not in name) and list((_ROOT / "tests").rglob(name)))


@pytest.mark.parametrize(
    ("library", "pin"), [("pyspark", ">=4.1,<4.4"), ("pyiceberg", ">=0.12,<0.13"), ("fastavro", ">=1.9")]
)
def test_a_pin_that_is_told_is_the_pin(library: str, pin: str) -> None:
    """Whoever changes one changes the other."""
    pins = [found for found in _PINS if re.split(r"[\[>=<]", found)[0] == library]
    assert pins
    assert all(found.endswith(pin) for found in pins)
    assert pin in _PAGE or pin.removeprefix(">=") in _PAGE


@pytest.mark.parametrize("library", ["pyfluss", "pypaimon-rust", "duckdb"])
def test_the_version_of_a_judge_is_told(library: str) -> None:
    """What the tests are run with."""
    (version,) = {pin.split("==")[1].split(";")[0] for pin in _PINS if pin.startswith(f"{library}==")}
    assert version in _PAGE
