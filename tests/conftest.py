"""What all tests share."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no failure: examples may take as long as they need.
settings.register_profile("lakeward", deadline=None, suppress_health_check=[HealthCheck.too_slow])
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

pytest_plugins = ["seaweed", "moto_s3", "server_fixtures", "lake_fixtures"]

# A JVM that lives for seconds is not worth the second compiler.
_BRISK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
os.environ.setdefault("SPARK_SUBMIT_OPTS", _BRISK)
os.environ.setdefault("SPARK_LAUNCHER_OPTS", _BRISK)


def pytest_report_header() -> str | None:
    """What is left out, and why."""
    return (
        f"left out: {len(collect_ignore)} files that need pyfluss, which is not installed" if collect_ignore else None
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first, so that no worker waits for another at the end."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.nodeid.startswith("tests/spark/"):
        return 0
    if item.get_closest_marker("slow") or item.get_closest_marker("crash"):
        return 1
    return 3 if item.nodeid.startswith("tests/unit/") else 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker for Spark, whose session takes long to get warm; all else goes by the file."""
    from xdist.scheduler import LoadScopeScheduling

    class Turns(LoadScopeScheduling):
        """What is handed to a worker at once."""

        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return "spark" if file.startswith("tests/spark/") else file

    config.option.loadscopereorder = False
    return Turns(config, log)
