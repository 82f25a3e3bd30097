"""`python -m lakeward.spark.tiering.worker_daemon`: Spark's Python daemon with what tiering tasks need loaded.

Spark forks its Python workers from a daemon. What that has loaded they have; else each loads it with its first task.
"""

from __future__ import annotations

from importlib import import_module

from lakeward.runtime.process.no_pandas import leave_out_pandas

MODULE = __name__ if __name__ != "__main__" else "lakeward.spark.tiering.worker_daemon"
_TASKS = ("lakeward.spark.tiering.spark_runner", "lakeward.lake.iceberg.format", "pyarrow.parquet")


def main() -> None:
    """Load, then do what Spark's own daemon does."""
    from pyspark import daemon

    leave_out_pandas()
    for name in _TASKS:
        import_module(name)
    daemon.manager()


if __name__ == "__main__":
    main()
