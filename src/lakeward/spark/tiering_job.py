"""The tiering service as a Spark application: enumerator and committer on the driver, readers and writers on executors.

`lakeward tier` starts it, on any Spark master.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakeward.client.sync import Connection, connect
from lakeward.options.spark import client_options
from lakeward.runtime.clock import SystemClock
from lakeward.spark.spark_runner import SparkRunner
from lakeward.spark.spark_session import session
from lakeward.tiering.catalogs import LakeCatalogs
from lakeward.tiering.round import Tools, run_round
from lakeward.tiering.service import TieringService
from lakeward.tiering.watchers import Watcher

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class TieringSettings:
    """What a tiering service is told. `lake` are properties of the lake catalog."""

    bootstrap: str
    lake: Mapping[str, str]
    master: str = "local[*]"
    client: Mapping[str, str] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)


def tiering_session(settings: TieringSettings) -> SparkSession:
    """The Spark session of a tiering service."""
    ours = {"spark.scheduler.mode": "FAIR", "spark.ui.enabled": "true"}
    return session(
        settings.bootstrap, master=settings.master, app_name="lakeward tiering", **{**ours, **settings.spark}
    )


def tiering_service(
    settings: TieringSettings, spark: SparkSession, conn: Connection, watcher: Watcher
) -> TieringService:
    """A service that runs its rounds on a session."""
    clock = SystemClock()
    runner = SparkRunner(spark)
    tools = Tools(conn, LakeCatalogs(settings.lake), runner, clock, settings.bootstrap, settings.client)
    return TieringService(conn, lambda held: run_round(tools, held), clock, watcher, slots=max(2, runner.slots))


def opened(settings: TieringSettings) -> Connection:
    """The driver's own connection."""
    return connect(settings.bootstrap, **client_options(settings.client))
