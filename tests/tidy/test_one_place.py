"""Some things are done in one place, so that they are done in one way."""

from __future__ import annotations

import ast

import pytest
from source_tree import Module, modules

#: Keyword arguments that make an error's answer, and the module that may write them.
ANSWERS = "lakeward.rpc.error_answers"
#: Marks of unfinished work, and names of places where packages come from.
BANNED = ("FIX" + "ME", "TO" + "DO", "X" + "XX", "HA" + "CK", "py" + "pi.org", "python" + "hosted")
#: Names that say nothing of what is inside.
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"}


@pytest.mark.parametrize("module", modules().values(), ids=lambda module: module.name)
def test_errors_become_answers_in_one_place(module: Module) -> None:
    """Nobody else writes an error's code into a message."""
    written = [
        node.lineno
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and any(keyword.arg == "error_code" for keyword in node.keywords)
    ]
    assert written == [] or module.name == ANSWERS or module.name.startswith("lakeward.protocol.")


@pytest.mark.parametrize("module", modules().values(), ids=lambda module: module.name)
def test_no_banned_word(module: Module) -> None:
    """Unfinished work has an issue, not a mark."""
    assert [word for word in BANNED if word in module.text] == []


def test_names_of_modules_say_something() -> None:
    """A drawer for everything ends up holding everything."""
    assert {name for name in modules() if name.rpartition(".")[2] in EMPTY_NAMES} == set()
