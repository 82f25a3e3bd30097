"""What the server takes from the world comes through its doors, and what its parts need comes by constructor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = Path("src/lakeward/server")
#: Where the world may be named; `restore` is a program of its own, which has its files on this machine.
DOORS = {SERVER / "doors.py"}
WORLD = {"SystemClock", "SystemEntropy", "LocalFiles", "ThreadPoolExecutor", "perf_counter", "monotonic", "sleep"}
MODULES = {"time", "uuid", "random", "secrets"}


def modules() -> Iterator[tuple[Path, ast.Module]]:
    """Every module of the server."""
    for path in sorted(SERVER.rglob("*.py")):
        yield path, ast.parse(path.read_text())


@pytest.mark.parametrize(("path", "tree"), [pytest.param(*one, id=str(one[0])) for one in modules()])
def test_no_part_asks_the_machine_itself(path: Path, tree: ast.Module) -> None:
    """Time, randomness, files and threads are asked for in one place, so that a server can run from a seed."""
    if path in DOORS or path.is_relative_to(SERVER / "restore"):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert not {one.name for one in node.names} & MODULES, f"{path}:{node.lineno}"
        elif isinstance(node, ast.ImportFrom):
            asked = {one.name for one in node.names} & WORLD
            assert not asked, f"{path}:{node.lineno} takes {asked} from the machine"


def fields(kind: ast.ClassDef) -> set[str]:
    """What a class declares to have."""
    return {one.target.id for one in kind.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)}


def classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    """Every class of the server."""
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield path, node


def assigned(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Every attribute that is assigned, of whatever object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node


def test_nothing_is_assigned_from_outside() -> None:
    """An object's attributes are its own; others call a method, or give it what it needs when it is made."""
    records = [kind for _, kind in classes() if any("dataclass" in ast.unparse(one) for one in kind.decorator_list)]
    is_data = {name for kind in records for name in fields(kind)}
    wrong = [
        f"{path}:{one.lineno} {ast.unparse(one)}"
        for path, tree in modules()
        for one in assigned(tree)
        if ast.unparse(one.value) not in {"self", "cls"} and one.attr not in is_data
    ]
    assert not wrong


def test_attributes_are_made_in_constructors() -> None:
    """Whoever reads a constructor knows all that an object has."""
    wrong = []
    for path, kind in classes():
        methods = [one for one in kind.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
        own = {method: [one for one in assigned(method) if ast.unparse(one.value) == "self"] for method in methods}
        made = {one.attr for method in methods if method.name == "__init__" for one in own[method]} | fields(kind)
        late = [one for found in own.values() for one in found if one.attr not in made]
        wrong += [f"{path}:{one.lineno} {kind.name}.{one.attr}" for one in late]
    assert not wrong
