"""The data source of Spark over our readers of lakes: a snapshot is chosen once, its files are read by tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from lakeward.spark.scripts.connectors.lake.lake_rows import LakeFiles, LakeSpec, rows_of, shares_of
from lakeward.spark.table.one_sentence import one_sentence
from lakeward.spark.table.types import spark_schema

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "lakeward_lake"
SPEC = "spec"


class LakeDataSource(DataSource):
    """Tables of a lake."""

    @classmethod
    def name(cls) -> str:
        """What `format(…)` calls it."""
        return FORMAT

    def schema(self) -> StructType:
        """The columns that the table is said to have."""
        return StructType.fromJson(spark_schema(self._spec().schema))

    def reader(self, schema: StructType) -> DataSourceReader:
        """A snapshot."""
        del schema
        return SnapshotReader(self._spec())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """A snapshot, as a stream that ends."""
        from lakeward.spark.scripts.connectors.lake.lake_stream import SnapshotStreamReader

        del schema
        return SnapshotStreamReader(self._spec())

    def _spec(self) -> LakeSpec:
        return LakeSpec.of_json(self.options[SPEC])


class SnapshotReader(DataSourceReader):
    """The rows of a snapshot."""

    def __init__(self, spec: LakeSpec) -> None:
        self._spec = spec

    def partitions(self) -> list[InputPartition]:
        """The files of the snapshot, spread over tasks."""
        with one_sentence():
            reader = self._spec.open()
            return shares_of(reader, self._spec.choose(reader))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read some files."""
        assert isinstance(partition, LakeFiles)
        yield from rows_of(self._spec, partition.files)
