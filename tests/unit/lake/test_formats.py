"""Formats by name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake import formats


@pytest.fixture(autouse=True)
def forgetting() -> Iterator[None]:
    """No format of one test is found by another."""
    formats.lake_format.cache_clear()
    yield
    formats.lake_format.cache_clear()


class Plugged:
    """A third party's format."""

    name = "plugged"


def test_ours_is_found_once() -> None:
    """The same object each time."""
    assert formats.lake_format("iceberg").name == "iceberg"
    assert formats.lake_format("iceberg") is formats.lake_format("iceberg")


def test_an_unknown_format_is_told_which_there_are() -> None:
    """In one sentence."""
    with pytest.raises(LakewardError, match=r"no lake format 'delta'; there are .*iceberg") as wrong:
        formats.lake_format("delta")
    assert wrong.value.code is ErrorCode.LAKE_STORAGE_NOT_CONFIGURED


def test_a_missing_library_is_told_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra has the format's name."""

    def missing(_: str) -> Any:
        raise ModuleNotFoundError(name="pyiceberg")

    monkeypatch.setattr(formats, "import_module", missing)
    with pytest.raises(LakewardError, match=r"\(pyiceberg\): pip install 'lakeward\[iceberg\]'"):
        formats.lake_format("iceberg")


def test_third_parties_plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """By an entry point of the group."""
    point = EntryPoint("plugged", f"{__name__}:Plugged", formats.GROUP)
    monkeypatch.setattr(importlib.import_module(__name__), "Plugged", Plugged, raising=False)
    monkeypatch.setattr(formats, "entry_points", lambda **_: EntryPoints([point]))
    assert formats.lake_format("plugged").name == "plugged"
