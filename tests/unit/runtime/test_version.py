"""The version is what the package was built as."""

from __future__ import annotations

import tomllib

from source_tree import ROOT

from lakeward.runtime.version import VERSION


def test_the_version_is_that_of_the_package() -> None:
    """Two places say it, and they say the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["version"] == VERSION
