"""A bundle is a bounded zip for its owner alone, and says what is in it."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from lakeward.doctor.bundle import bundle as module
from lakeward.doctor.bundle.bundle import Bundle
from lakeward.doctor.bundle.redaction import Redaction
from lakeward.errors import InvalidError


def test_a_bundle_is_private_and_lists_what_it_holds(tmp_path: Path) -> None:
    """One that is there is kept, unless it is to be replaced."""
    bundle = Bundle(Redaction(["hush-4711"]))
    bundle.add("a.txt", "Some text.", "hush-4711")
    bundle.write(tmp_path / "x.zip")
    assert stat.S_IMODE((tmp_path / "x.zip").stat().st_mode) == 0o600
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert archive.namelist() == bundle.names
        assert archive.read("a.txt") == b"******"
        assert b"a.txt  Some text." in archive.read("README.txt")
    with pytest.raises(InvalidError, match="there already"):
        bundle.write(tmp_path / "x.zip")
    bundle.write(tmp_path / "x.zip", replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


def test_a_long_text_is_cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And it is said how much is missing."""
    monkeypatch.setattr(module, "TEXT_MAX", 10)
    bundle = Bundle(Redaction([]))
    bundle.add("a.txt", "Some text.", "x" * 25)
    bundle.write(tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert "15 characters" in archive.read("a.txt").decode()
