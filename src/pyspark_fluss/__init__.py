"""Where Spark looks for data sources of its own accord: makes `format("fluss")` known without registering it."""

from lakeward.spark.source.data_source import FlussDataSource as DefaultSource

__all__ = ["DefaultSource"]
