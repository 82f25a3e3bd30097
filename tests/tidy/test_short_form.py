"""What `make test` leaves to `make test-all` is some of what a file shows, and all of it only where this says why."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

_TESTS = Path(__file__).parents[1]
#: Files of which nothing is in the short form, and who shows the same there.
WHOLLY_LONG = {
    "crash/test_spark_sink.py": "test_staged_crash.py kills committers, test_run_kills.py kills Spark",
    "crash/test_tiering_crash_s3.py": "test_tiering_crash.py kills the service, test_lake_on_s3.py has buckets",
    "integration/test_rest_catalog_busy.py": "test_union_rest.py races with rows and rounds, too",
    "integration/test_rest_tpch.py": "test_tpc.py asks TPC-H's queries, test_rest_catalog.py those of others",
    "spark/test_run_faults.py": "test_server_away.py has streams that wait, test_run.py what a person sees",
    "spark/test_standalone_cluster.py": "executors are looked at with a local master by all other tests of Spark",
}


def _is_wholly_long(file: Path) -> bool:
    nodes = [
        node
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    tests = [node for node in nodes if node.name.startswith("test_")]
    return all("pytest.mark.long" in map(ast.unparse, node.decorator_list) for node in tests)


def test_every_file_has_its_story_in_the_short_form(pytestconfig: pytest.Config) -> None:
    """The mark is declared, and stands at single tests."""
    assert any(line.startswith("long:") for line in pytestconfig.getini("markers"))
    marked = [file for file in _TESTS.rglob("test_*.py") if "@pytest.mark.long" in file.read_text()]
    assert {str(file.relative_to(_TESTS)) for file in marked if _is_wholly_long(file)} == set(WHOLLY_LONG)
