"""The data source of Spark under `datagen`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from lakeward.runtime.clock import SystemClock
from lakeward.spark.scripts.connectors.datagen.datagen_rows import DatagenSpec, RowRange, make_rows, ranges
from lakeward.spark.table.types import spark_schema

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "lakeward_datagen"
SPEC = "spec"


class DatagenDataSource(DataSource):
    """Made-up rows."""

    @classmethod
    def name(cls) -> str:
        """What `format(…)` calls it."""
        return FORMAT

    def schema(self) -> StructType:
        """The columns of the table."""
        return StructType.fromJson(spark_schema(self._spec().schema))

    def reader(self, schema: StructType) -> DataSourceReader:
        """All rows."""
        del schema
        return DatagenReader(self._spec())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Rows as they fall due."""
        from lakeward.spark.scripts.connectors.datagen.datagen_stream import DatagenStreamReader

        del schema
        return DatagenStreamReader(self._spec())

    def _spec(self) -> DatagenSpec:
        return DatagenSpec.of_json(self.options[SPEC])


class DatagenReader(DataSourceReader):
    """All rows at once."""

    def __init__(self, spec: DatagenSpec) -> None:
        self._spec = spec

    def partitions(self) -> list[InputPartition]:
        """Equal shares."""
        assert self._spec.rows is not None, "a batch read is refused where rows do not end"
        return ranges(0, self._spec.rows, SystemClock().now_ms())

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Make the rows of one share."""
        assert isinstance(partition, RowRange)
        yield from make_rows(self._spec, partition)
