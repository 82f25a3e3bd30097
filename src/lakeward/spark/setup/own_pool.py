"""A pool of Spark's scheduler for one stream: where a session is fair, none waits for what another is behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Settings of a session in which pools share the cores. Spark's default is that what came first is done first.
FAIR = {"spark.scheduler.mode": "FAIR"}
_POOL = "spark.scheduler.pool"


@contextmanager
def own_pool(session: SparkSession, name: str) -> Iterator[None]:
    """Streams that are started meanwhile have a pool of their own."""
    context = session.sparkContext
    before = context.getLocalProperty(_POOL)
    context.setLocalProperty(_POOL, name)
    try:
        yield
    finally:
        context.setLocalProperty(_POOL, before)  # type: ignore[arg-type]  # nothing takes it away
