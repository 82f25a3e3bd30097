"""Libraries behind lake formats: a version that is not known to work is refused before it can do harm."""

from __future__ import annotations

import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from lakeward.errors import LakewardError
from lakeward.lake import library_version
from lakeward.lake.formats import lake_format
from lakeward.lake.library_version import LIBRARIES, check_library

PYPROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())


@pytest.fixture(autouse=True)
def fresh_formats() -> None:
    """Doors are opened again."""
    lake_format.cache_clear()


@pytest.mark.parametrize("name", LIBRARIES)
def test_pyproject_pins_what_is_known_to_work(name: str) -> None:
    """For users of the extra and for ourselves."""
    library = LIBRARIES[name]
    extras = PYPROJECT["project"]["optional-dependencies"]
    for extra in (name, "dev"):
        pinned = [pin for pin in extras[extra] if pin.partition("[")[0] == library.name]
        assert [pin.partition("]")[2] for pin in pinned] == [library.versions]


@pytest.mark.parametrize(
    ("name", "installed"),
    [("iceberg", "0.11.1"), ("iceberg", "0.13.0rc1"), ("iceberg", "1.0.0"), ("paimon", "1.8.4")],
)
def test_versions_that_are_not_known_to_work_are_refused(
    name: str, installed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence: which is installed, which are known to work, and what to do."""
    monkeypatch.setattr(library_version, "version", lambda _: installed)
    known = f"{LIBRARIES[name].name}{LIBRARIES[name].versions}"
    with pytest.raises(LakewardError) as refused:
        lake_format(name)
    assert refused.value.message == (
        f"The lake format '{name}' is known to work with {known}, and {installed} is installed: "
        f"pip install 'lakeward[{name}]'."
    )


@pytest.mark.parametrize(
    ("name", "installed"), [("iceberg", "0.12.0"), ("iceberg", "0.12.7"), ("paimon", "1.12.0"), ("paimon", "2.0.0")]
)
def test_versions_within_the_pin_are_taken(name: str, installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patches may come; what they change in private is looked at by name."""
    monkeypatch.setattr(library_version, "version", lambda _: installed)
    check_library(name)


def test_a_name_that_is_gone_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that no longer has what we import from it."""
    from pyiceberg.table.update import snapshot

    monkeypatch.delattr(snapshot, "_FastAppendFiles")
    for module in [name for name in sys.modules if name.startswith("lakeward.lake.iceberg")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(LakewardError, match=rf"{metadata.version('pyiceberg')} is installed .*_FastAppendFiles"):
        lake_format("iceberg")
