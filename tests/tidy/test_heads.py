"""The head of a folder is its map: it names what is there, all of it, and nothing else."""

from __future__ import annotations

import re

import pytest
from source_tree import Module, folders

#: Names, then two spaces or more, then what they are; or a row of a table.
_ENTRY = re.compile(r"^ {0,4}((?:[a-z_0-9]+/?)(?:, [a-z_0-9]+/?)*) {2,}\S|^\| ([a-z_0-9, ]+) \|", re.MULTILINE)
_HEADING_OF_TABLE = {"module", "room"}
_OWN = {"__init__", "__pycache__"}
#: What may be left out of a map.
_PLAIN = {"__main__", "py.typed"}
#: The package's own map is docs/architecture.md.
_ROOT = "lakeward"


def inside(head: Module) -> set[str]:
    """Names of the files and folders of a folder."""
    return {path.stem for path in head.path.parent.iterdir() if path.suffix == ".py" or path.is_dir()} - _OWN


@pytest.mark.parametrize("head", folders().values(), ids=lambda head: head.name)
def test_every_module_is_named_in_its_head(head: Module) -> None:
    """Whoever opens a folder learns from its head where to look."""
    text = head.docstrings[0] if head.docstrings else ""
    names = inside(head) - _PLAIN if head.name != _ROOT else set()
    assert {name for name in names if not re.search(rf"(?<!\w){name}(?!\w)", text)} == set()


@pytest.mark.parametrize("head", folders().values(), ids=lambda head: head.name)
def test_a_head_names_only_what_is_there(head: Module) -> None:
    """A map with streets that are gone is worse than none."""
    entries = [m.group(1) or m.group(2) for m in _ENTRY.finditer(head.docstrings[0])]
    named = {name.strip().rstrip("/") for entry in entries for name in entry.split(",")}
    assert named - inside(head) - _HEADING_OF_TABLE == set()
