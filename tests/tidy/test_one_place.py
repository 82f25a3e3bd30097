"""Some things are done in one place, so that they are done in one way."""

from __future__ import annotations

import ast

import pytest
from source_tree import modules, packages

#: Who writes an error's code into a message: the frames of answers do what they are told by the other.
ANSWERS = {"lakeward.rpc.error_answers", "lakeward.protocol.frames"}
#: Marks of unfinished work, and names of places where packages come from.
BANNED = ("FIX" + "ME", "TO" + "DO", "X" + "XX", "HA" + "CK", "py" + "pi.org", "python" + "hosted")
#: Names that say nothing of what is inside.
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"}


@pytest.mark.parametrize("package", packages())
def test_errors_become_answers_in_one_place(package: str) -> None:
    """Nobody else writes an error's code into a message."""
    written = {
        module.name
        for module in packages()[package]
        for node in module.nodes
        if isinstance(node, ast.Call) and any(keyword.arg == "error_code" for keyword in node.keywords)
    }
    assert written - ANSWERS == set()


@pytest.mark.parametrize("package", packages())
def test_no_banned_word(package: str) -> None:
    """Unfinished work has an issue, not a mark."""
    assert {(m.name, word) for m in packages()[package] for word in BANNED if word in m.text} == set()


def test_names_of_modules_say_something() -> None:
    """A drawer for everything ends up holding everything."""
    assert {name for name in modules() if name.rpartition(".")[2] in EMPTY_NAMES} == set()
