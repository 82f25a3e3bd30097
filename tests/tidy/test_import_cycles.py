"""Modules import downwards, also within a folder."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Not inside functions and not for types either: whoever needs both stands above both."""
    graph = grimp.build_graph("lakeward")
    imports = TopologicalSorter({m: graph.find_modules_directly_imported_by(m) for m in graph.modules})
    try:
        imports.prepare()
    except CycleError as found:
        pytest.fail(" ← ".join(found.args[1]))
