"""A name tells a value from an action: actions are verbs, values are nouns, questions begin with `is` or `has`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from source_tree import Module, packages

#: Words that end like a participle and are none, and participles that do not end in -ed.
NOUNS = {"feed", "need", "seed", "speed"}
PARTICIPLES = {
    "begun",
    "done",
    "found",
    "given",
    "gone",
    "held",
    "kept",
    "known",
    "made",
    "said",
    "sent",
    "shown",
    "taken",
}
PARTICIPLES |= {"told", "written"}
#: What users call, what asyncio calls, and what reads as a question.
ALLOWED = {"closed", "committed", "done", "written"}
ALLOWED |= {"connection_lost", "connection_made", "buffer_updated", "eof_received"}


def _bare_participles(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in ALLOWED:
            first, *rest = re.sub("^_+", "", node.name).split("_")
            if not rest and first not in NOUNS and (first.endswith("ed") or first in PARTICIPLES):
                yield f"{node.name}, line {node.lineno}"


@pytest.mark.parametrize("package", packages())
def test_no_function_is_a_bare_participle(package: str) -> None:
    """`commit_round`, not `committed`: one must see whether something is done here or was done before."""
    assert [name for module in packages()[package] for name in _bare_participles(module)] == []
