"""The data source `fluss` in Python, for sessions without the jar.

    spark.dataSource.register(lakeward.spark.FlussDataSource)
    spark.read.format("fluss").option("bootstrap.servers", "localhost:9123").option("table", "shop.orders").load()

Spark finds it by itself where the package `pyspark_fluss` is installed, which comes with Lakeward.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import StructType

from lakeward.options.spark import BOOTSTRAP_SERVERS, TABLE, connector_options, redact
from lakeward.spark.source.no_streams import NoStreamReader, has_streams
from lakeward.spark.table.chosen_table import ChosenTable
from lakeward.spark.table.one_sentence import one_sentence
from lakeward.spark.table.types import spark_schema

if TYPE_CHECKING:
    from lakeward.spark.source.readers import FlussReader
    from lakeward.spark.source.writers import FlussStreamWriter, FlussWriter

_OPTIONS_KEY = "fluss.options"


class FlussDataSource(DataSource):
    """Tables of a Lakeward or Apache Fluss cluster, read and written by options."""

    @classmethod
    def name(cls) -> str:
        """What `format(…)` and `USING` call it."""
        return "fluss"

    def schema(self) -> StructType:
        """The columns of the table, or of its view."""
        with one_sentence():
            options = connector_options(self.options)
            form = spark_schema(ChosenTable.of(options).schema)
        _carry(form, options)
        return StructType.fromJson(form)

    def reader(self, schema: StructType) -> FlussReader:
        """Reads the table as it is when the read is planned."""
        from lakeward.spark.source.readers import reader_of

        with one_sentence():
            return reader_of(self._options_of(schema), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Reads the table as it grows."""
        if not has_streams():
            return NoStreamReader()
        from lakeward.spark.source.stream_readers import FlussStreamReader

        with one_sentence():
            return FlussStreamReader(self._options_of(schema), schema)

    def writer(self, schema: StructType, overwrite: bool) -> FlussWriter:
        """Writes a DataFrame, all of it or nothing that is seen."""
        from lakeward.spark.source.writers import FlussWriter

        with one_sentence():
            return FlussWriter(self._options_of(schema), schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> FlussStreamWriter:  # noqa: N802 - Spark's name
        """Writes micro-batches, each exactly once."""
        from lakeward.spark.source.writers import FlussStreamWriter

        with one_sentence():
            checkpoint = self.options.get("checkpointLocation")
            return FlussStreamWriter(self._options_of(schema), schema, checkpoint=checkpoint, overwrite=overwrite)

    def _options_of(self, schema: StructType) -> dict[str, str]:
        options = connector_options(self.options)
        named = TABLE.key in options or BOOTSTRAP_SERVERS.key in options
        return options if named else connector_options({**_options_in(schema), **options})


def _carry(form: dict[str, Any], options: dict[str, str]) -> None:
    """Put the options beside the first column: Spark gives those of CREATE TABLE … USING to nobody but `schema()`."""
    kept = {key: value for key, value in redact(options).items() if value == options[key]}
    form["fields"][0]["metadata"][_OPTIONS_KEY] = json.dumps(kept)


def _options_in(schema: StructType) -> dict[str, str]:
    text = schema.fields[0].metadata.get(_OPTIONS_KEY) if schema.fields else None
    return {} if text is None else dict(json.loads(text))
