"""What Spark's Python workers of a tiering service are forked from."""

from __future__ import annotations

from importlib.util import find_spec

from lakeward.spark.tiering.worker_daemon import _TASKS, MODULE


def test_what_it_loads_is_there() -> None:
    """Spark starts it by its name; a name that is wrong would end every task."""
    assert MODULE == "lakeward.spark.tiering.worker_daemon"
    assert all(find_spec(name) is not None for name in (MODULE, *_TASKS))
