"""An option that nobody reads is declared as one without effect, or gone."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module

import pytest
from source_tree import modules

from lakeward.options.authorization import is_refused
from lakeward.options.client import CLIENT_OPTIONS
from lakeward.options.option import Option, OptionTable
from lakeward.options.server import SERVER_OPTIONS
from lakeward.options.spark import SPARK_OPTIONS
from lakeward.options.table import TABLE_OPTIONS
from lakeward.options.tiering import TIERING_OPTIONS

ALL = (SERVER_OPTIONS, CLIENT_OPTIONS, TABLE_OPTIONS, TIERING_OPTIONS, SPARK_OPTIONS)
_ROWS = "lakeward.options"


@cache
def names_of_rows() -> dict[int, set[str]]:
    """Each row by its identity: the names that modules of options have for it."""
    found: dict[int, set[str]] = {}
    for name in modules():
        if name.startswith(f"{_ROWS}."):
            for key, value in vars(import_module(name)).items():
                if isinstance(value, Option):
                    found.setdefault(id(value), set()).add(key)
    return found


@cache
def names_that_are_read() -> set[str]:
    """Names that code mentions elsewhere than in a declaration: as `rows.NAME`, by an import, or in a function."""
    read: set[str] = set()
    for module in modules().values():
        is_of_options = module.folder == _ROWS
        nodes = module.functions if is_of_options else [module.tree]
        for node in (inner for outer in nodes for inner in ast.walk(outer)):
            if isinstance(node, ast.Attribute):
                read.add(node.attr)
            elif isinstance(node, ast.Name):
                read.add(node.id)
        for node in module.nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_ROWS):
                read |= {alias.name for alias in node.names}
    return read


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.scope)
def test_every_option_is_read(table: OptionTable) -> None:
    """By code, or it is refused (security), or it says of itself that it has no effect."""
    names, read = names_of_rows(), names_that_are_read()
    rows = [row for row in table if not row.inert and not is_refused(row.key)]
    assert [row.key for row in rows if names.get(id(row), set()).isdisjoint(read)] == []


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.scope)
def test_what_has_no_effect_has_no_name(table: OptionTable) -> None:
    """Nobody can read it by mistake."""
    assert [row.key for row in table if row.inert and id(row) in names_of_rows()] == []
