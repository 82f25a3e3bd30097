"""Folders import each other in one direction, whatever the import is for."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import pytest
from source_tree import Module, modules

#: A head that hands out what lies in its folder's rooms is not a room above them: its imports are left out.
Edges = dict[str, dict[str, str]]


def folder_imports() -> Edges:
    """Folder → folders it imports, with one import that says so; inside functions and for types, too."""
    found: Edges = {}
    for module in modules().values():
        if module.is_head:
            continue
        for node in module.nodes:
            for target in _targets(node):
                here, there = _room(module), _room(target)
                if here != there:
                    found.setdefault(here, {}).setdefault(there, f"{module.name} → {target.name}")
    return found


def _room(module: Module) -> str:
    """The folder of a module; a file at the root is a room by itself."""
    return module.name if module.folder == "lakeward" else module.folder


def _targets(node: ast.AST) -> list[Module]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
    else:
        return []
    return [modules()[name] for name in names if name in modules() and not modules()[name].is_head]


def test_no_folder_imports_itself_by_way_of_others() -> None:
    """A cycle means that neither can be read, moved or tested without the other."""
    edges = folder_imports()
    order = TopologicalSorter({folder: set(imported) for folder, imported in edges.items()})
    try:
        order.prepare()
    except CycleError as found:
        cycle = found.args[1]
        pytest.fail("; ".join(edges[a].get(b) or edges[b][a] for a, b in pairwise(cycle)))
