"""The connector `filesystem`: files in a directory, of the formats that Spark knows."""

from __future__ import annotations

from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.scripts.connectors.filesystem.file_sink import FileSink
from lakeward.spark.scripts.connectors.filesystem.file_source import FileSource
from lakeward.spark.scripts.connectors.filesystem.filesystem_options import FILESYSTEM_OPTIONS
from lakeward.spark.scripts.connectors.port import Sink, Source, Surroundings


class FilesystemConnector:
    """To read what is there, and to leave something for others."""

    name = "filesystem"
    summary = (
        "Files in a directory, local or where Spark reaches: CSV, JSON, Parquet, ORC, text. A stream reads each file"
        " once, and writes each micro-batch once."
    )
    options = FILESYSTEM_OPTIONS

    def __init__(self, surroundings: Surroundings) -> None:
        del surroundings

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """Check the definition; the directory is made by the first write."""
        FileSource(table)
        return ()

    def source(self, table: TableDefinition) -> Source:
        """The rows of the files."""
        return FileSource(table)

    def sink(self, table: TableDefinition) -> Sink:
        """Into further files."""
        return FileSink(table)
