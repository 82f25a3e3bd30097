"""Where a service keeps the little it must not forget."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.tiering.settings import TieringSettings


def test_a_local_warehouse_holds_it(tmp_path: Path) -> None:
    """So that the next service over it finds it, whoever starts it."""
    for warehouse in (str(tmp_path), tmp_path.as_uri()):
        assert TieringSettings("here", {"warehouse": warehouse}).state_directory() == tmp_path / ".lakeward-tiering"


def test_elsewhere_it_is_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or where one says."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for lake in ({"warehouse": "s3://bucket/lake"}, {}):
        assert TieringSettings("here", lake).state_directory() == tmp_path / "lakeward" / "tiering"
    assert TieringSettings("here", {}, state_dir=tmp_path / "x").state_directory() == tmp_path / "x"
