"""The head of a folder is its map: it names what is there, all of it, and nothing else."""

from __future__ import annotations

import re

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


def test_every_module_is_named_in_its_head() -> None:
    """Whoever opens a folder learns from its head where to look."""
    unnamed = {
        f"{head.name}.{name}"
        for head in folders().values()
        for name in inside(head) - _PLAIN
        if head.name != _ROOT and not re.search(rf"(?<!\w){name}(?!\w)", head.docstrings[0])
    }
    assert unnamed == set()


def test_a_head_names_only_what_is_there() -> None:
    """A map with streets that are gone is worse than none."""
    gone = {
        f"{head.name}: {name}"
        for head in folders().values()
        for name in entries(head) - inside(head) - _HEADING_OF_TABLE
    }
    assert gone == set()


def entries(head: Module) -> set[str]:
    """What a map names."""
    lines = [found.group(1) or found.group(2) for found in _ENTRY.finditer(head.docstrings[0])]
    return {name.strip().rstrip("/") for line in lines for name in line.split(",")}
