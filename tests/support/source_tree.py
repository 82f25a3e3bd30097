"""The source as a tree: modules parsed once, what they import and where, for the tests that keep the house tidy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "lakeward"
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    """One import statement: the modules it names, and whether it stands inside a function."""

    line: int
    targets: tuple[str, ...]
    in_function: bool


@dataclass(frozen=True)
class Module:
    """A file of the package."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        """Its source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Its source, parsed."""
        return ast.parse(self.text)

    @property
    def is_head(self) -> bool:
        """Whether it is the head of a folder."""
        return self.path.name == "__init__.py"

    @property
    def folder(self) -> str:
        """The package it lies in."""
        return self.name if self.is_head else self.name.rpartition(".")[0]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Definition]:
        """Every function and method."""
        return [node for node in self.nodes if isinstance(node, Definition)]

    @cached_property
    def docstrings(self) -> list[str]:
        """Of the module, its classes and its functions."""
        nodes = [n for n in self.nodes if isinstance(n, (ast.Module, ast.ClassDef, *Definition.__args__))]
        return [text for node in nodes if (text := ast.get_docstring(node, clean=False))]

    @cached_property
    def imports(self) -> list[Import]:
        """Every import that runs; those for type checkers alone are left out."""
        return list(_imports(self.tree, in_function=False))

    @cached_property
    def start_imports(self) -> set[str]:
        """What is imported when the module is."""
        return {target for one in self.imports if not one.in_function for target in one.targets}


@cache
def modules() -> dict[str, Module]:
    """All modules of the package by name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("lakeward", *path.relative_to(PACKAGE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path)
    return found


@cache
def packages() -> dict[str, list[Module]]:
    """The modules of each package, by its name; files at the root are one more."""
    found: dict[str, list[Module]] = {}
    for name, module in modules().items():
        parts = name.split(".")
        is_root = len(parts) < 3 and not module.is_head
        found.setdefault("lakeward" if is_root or len(parts) == 1 else parts[1], []).append(module)
    return found


@cache
def folders() -> dict[str, Module]:
    """The heads of all folders by name."""
    return {name: module for name, module in modules().items() if module.is_head}


def prefixes(name: str) -> list[str]:
    """a.b.c → a, a.b, a.b.c: what an import loads on its way."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


@cache
def loaded_by(name: str) -> frozenset[str]:
    """Everything that is loaded when a module is: ours, and the libraries they name."""
    seen: set[str] = set()
    left = prefixes(name)
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            module = modules().get(one)
            left += [p for target in (module.start_imports if module else ()) for p in prefixes(target)]
    return frozenset(seen)


def _imports(node: ast.AST, *, in_function: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield Import(child.lineno, tuple(alias.name for alias in child.names), in_function)
        elif isinstance(child, ast.ImportFrom):
            yield Import(child.lineno, tuple(_named(child)), in_function)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        else:
            yield from _imports(child, in_function=in_function or isinstance(child, Definition))


def _named(statement: ast.ImportFrom) -> Iterator[str]:
    assert statement.module is not None, "imports are absolute"
    for alias in statement.names:
        whole = f"{statement.module}.{alias.name}"
        yield whole if whole in modules() else statement.module
