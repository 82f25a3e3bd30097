"""What all tests share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
from covering import uncovered
from examples import EXAMPLES
from hypothesis import HealthCheck, settings
from spark_classes import BRISK, OF_ARCHIVE

# A busy machine is no failure: examples may take as long as they need. `make test-property` has many more of them.
settings.register_profile(
    "lakeward", max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("lakeward")

# The official client has no wheels for Python 3.13 and newer: what goes through it is left out there, and said so.
_ORACLE = ("import fluss", "from fluss", "pyfluss_session")
collect_ignore = (
    []
    if find_spec("fluss")
    else [
        str(file)
        for file in Path(__file__).parent.rglob("test_*.py")
        if any(word in file.read_text() for word in _ORACLE)
    ]
)

pytest_plugins = ["seaweed", "moto_s3", "mariadb", "postgres", "server_fixtures", "lake_fixtures", "browser_fixtures"]

# Processes that tests start, Spark's workers above all, would compile our sources anew each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

os.environ.setdefault("SPARK_SUBMIT_OPTS", f"{BRISK} {OF_ARCHIVE}")
os.environ.setdefault("SPARK_LAUNCHER_OPTS", BRISK)

_FILES_MAX = 300


@pytest.fixture(scope="module", autouse=True)
def few_open_files() -> Iterator[None]:
    """A client of S3 in pyiceberg is part of a cycle: its sockets stay open until somebody collects."""
    yield
    if psutil.Process().num_fds() > _FILES_MAX:
        gc.collect()


@pytest.fixture(autouse=True)
def same_umask() -> Iterator[None]:
    """A command that is run inside a test may make its files private: those of the tests after it stay as they were."""
    umask = os.umask(0o022)
    os.umask(umask)
    yield
    os.umask(umask)


def pytest_report_header() -> str | None:
    """What is left out, and why."""
    return (
        f"left out: {len(collect_ignore)} files that need pyfluss, which is not installed" if collect_ignore else None
    )


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first, so that no worker waits for another at the end."""
    for item in uncovered(items):
        item.add_marker("long")
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.nodeid.startswith("tests/spark/"):
        return 0
    if item.get_closest_marker("slow") or item.get_closest_marker("crash"):
        return 1
    return 3 if item.nodeid.startswith("tests/unit/") else 2


#: Streams wait more than they work: two sessions beside each other are quicker than one.
_OF_SCRIPTS = tuple(
    f"tests/spark/{name}"
    for name in ("script", "test_jobs", "test_multiset", "test_run", "test_script", "test_weighted_aggregates")
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A worker for Spark, whose session takes long to get warm, and one for its scripts; all else goes by the file."""
    from xdist.scheduler import LoadScopeScheduling

    class Turns(LoadScopeScheduling):
        """What is handed to a worker at once."""

        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            if file.startswith("tests/tidy/"):
                return "tidy"  # all sources are parsed, once
            if not file.startswith("tests/spark/"):
                return file
            return "scripts" if file.startswith(_OF_SCRIPTS) else "spark"

    config.option.loadscopereorder = False
    return Turns(config, log)
