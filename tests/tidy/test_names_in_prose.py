"""Docstrings and comments name only what exists; tests/docs sees to the pages."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest
from source_tree import PACKAGE, ROOT, Definition, modules, packages

_FILE = re.compile(r"(?<![\w*<…/.-])((?:[\w-]+/)*[\w-]+\.(?:py|md|java))\b")
_CALL = re.compile(r"`([a-z_][a-z_0-9]*)\(")
_DOTTED = re.compile(r"`((?:lakeward\.)?[a-z_]+(?:\.[A-Za-z_]\w*)+)(?:\(\S*\))?`")
#: Tables, the group of entry points, and data sources.
NO_MODULES = {
    *("lakeward.tiering_status", "lakeward.consumer_offsets", "lakeward.lake_formats", "lakeward.connectors"),
    *("lakeward.kafka", "lakeward.mysql", "lakeward.postgres"),
}


@cache
def prose(package: str) -> str:
    """The docstrings and comments of a package."""
    lines: list[str] = []
    for module in packages()[package]:
        lines += module.docstrings
        lines += [line.partition("#")[2] for line in module.text.splitlines() if "#" in line]
    return "\n".join(lines)


@cache
def files() -> frozenset[str]:
    """Every file of the repository, by each end of its path."""
    ends = set()
    for top in ("src", "tests", "docs", "bench", "examples"):
        for path in (ROOT / top).rglob("*"):
            parts = path.relative_to(ROOT).parts
            ends |= {"/".join(parts[at:]) for at in range(len(parts))}
    return frozenset(ends | {path.name for path in ROOT.iterdir()})


@cache
def defined() -> frozenset[str]:
    """Every name that a module defines or is handed."""
    names = set()
    for module in modules().values():
        for node in module.nodes:
            if isinstance(node, (ast.ClassDef, *Definition.__args__)):
                names.add(node.name)
            elif isinstance(node, ast.Name | ast.arg):
                names.add(node.id if isinstance(node, ast.Name) else node.arg)
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
    return frozenset(names)


@pytest.mark.parametrize("package", packages())
def test_files_named_in_the_sources_exist(package: str) -> None:
    """`see codec.py` is of no use when there is none."""
    assert {name for name in _FILE.findall(prose(package)) if name not in files()} == set()


@pytest.mark.parametrize("package", packages())
def test_functions_named_in_the_sources_exist(package: str) -> None:
    """A name with brackets in a docstring is a function or method of ours, or of a library that is used."""
    assert {name for name in _CALL.findall(prose(package)) if name not in defined()} == set()


@pytest.mark.parametrize("package", packages())
def test_modules_named_in_the_sources_exist(package: str) -> None:
    """`package.module` in a docstring can be opened."""
    assert {name for name in _DOTTED.findall(prose(package)) if not _resolves(name)} - NO_MODULES == set()


def _resolves(name: str) -> bool:
    whole = name if name.startswith("lakeward.") else f"lakeward.{name}"
    head, _, last = whole.rpartition(".")
    if whole in modules() or head in modules():
        return whole in modules() or last in defined()
    package = whole.split(".")[1]
    return not (PACKAGE / package).is_dir() or (len(whole.split(".")) > 3 and head.rpartition(".")[0] in modules())


def test_every_package_stands_in_the_architecture() -> None:
    """The map of the whole is docs/architecture.md."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {name for name in packages if f"[{name}](" not in text} == set()
