"""The data sources of `spark.ingest` in a session: `format("lakeward.mysql")` and the like work without a word."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from lakeward.spark.setup.active_session import active_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource

#: They stand above this room, and are loaded when there is a session.
_HOME = "lakeward.spark.ingest"
SOURCES = (
    f"{_HOME}.capture.capture_source:MysqlDataSource",
    f"{_HOME}.capture.capture_source:PostgresDataSource",
    f"{_HOME}.kafka.kafka_source:KafkaDataSource",
)
_told: WeakSet[Any] = WeakSet()


def register_sources(session: SparkSession) -> SparkSession:
    """The session, which knows them."""
    if session not in _told:
        _told.add(session)
        for place in SOURCES:
            module, _, name = place.partition(":")
            register_source(session, getattr(import_module(module), name))
    return session


def register_source(session: SparkSession, source: type[DataSource]) -> None:
    """Make one data source known.

    Spark looks whether there is one already in the session that is active on the thread, whichever is asked: for a
    moment it is the one that is asked.
    """
    with active_session(session):
        session.dataSource.register(source)
