"""What nobody mentions is gone: a definition that only tests use belongs to the tests."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from source_tree import PACKAGE, ROOT, Definition, Module, modules, packages

#: Called by libraries that we plug into: asyncio, click, io, http.server, prompt_toolkit, pyiceberg, pyspark,
#: pyarrow's Flight, sqlglot, uvicorn.
CALLED_BY_OTHERS = {
    *("eof_received", "format_commands", "seekable", "do_GET", "log_message"),
    *("commit_table", "create_namespace", "load_namespace_properties", "list_namespaces"),
    *("get_completions", "lex_document", "load_history_strings", "store_string"),
    *("do_action", "do_get", "do_put", "get_flight_info", "get_schema", "list_actions", "start_call"),
    *("sending_headers", "authenticate", "is_valid", "capture_signals"),
    *("streamReader", "streamWriter", "pushFilters"),
    *("_parse_as_command", "_parse_pipe_syntax_query", "_parse_cube_or_rollup"),
}
#: Doors to a world that tests make, and what they look at there.
DOORS_OF_TESTS = {"ManualClock", "SeededEntropy", "change_count", "hash_in"}


@cache
def mentions() -> Counter[str]:
    """How often each word stands in the sources, also those of the jar, and in pyproject.toml."""
    texts = [module.text for module in modules().values()]
    texts += [path.read_text() for path in PACKAGE.rglob("*.java")]
    return Counter(re.findall(r"\w+", "\n".join([*texts, (ROOT / "pyproject.toml").read_text()])))


def definitions(module: Module) -> Iterator[str]:
    """Functions, classes and constants; commands are called by click."""
    for node in module.nodes:
        if isinstance(node, (ast.ClassDef, *Definition.__args__)):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            if not re.search(r"\b(command|group)\b", decorators) and not node.name.startswith("__"):
                yield node.name
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


@pytest.mark.parametrize("package", packages())
def test_every_definition_is_mentioned(package: str) -> None:
    """A name that stands in the sources once stands there for nothing."""
    once = {name for module in packages()[package] for name in definitions(module) if mentions()[name] == 1}
    assert once - CALLED_BY_OTHERS - DOORS_OF_TESTS == set()
