"""Rows into indexes: each task writes its own, the driver deals with what was refused.

With a primary key a row is written under an id of it, so that a micro-batch that is done again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.language.changes import Changes
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.runtime.entropy import SystemEntropy
from lakeward.spark.scripts.connectors.elasticsearch.bulk_actions import BulkActions
from lakeward.spark.scripts.connectors.elasticsearch.bulk_writer import BulkWriter
from lakeward.spark.scripts.connectors.elasticsearch.elasticsearch_options import BulkSettings
from lakeward.spark.scripts.connectors.elasticsearch.refused_documents import RefusedDocuments
from lakeward.spark.scripts.connectors.port import Begin, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_QUERY_ID = "sql.streaming.queryId"
_OUT = "sent BIGINT, index_name STRING, id STRING, action STRING, document STRING, reason STRING"


@dataclass(frozen=True, slots=True)
class DocumentWriter:
    """What a task is given: writes batches, and tells what was refused."""

    schema: Schema
    actions: BulkActions
    settings: BulkSettings

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row that counts, and one for each refused document."""
        writer, found, sent = BulkWriter(self.settings), [], 0
        try:
            for batch in batches:
                actions = self.actions.of(self._conform(batch))
                refused = writer.write(actions)
                sent += len(actions) - len(refused)
                found += [
                    (
                        *(None, one.action.index, one.action.id, "delete" if one.action.is_delete else "index"),
                        *(one.action.document, one.reason),
                    )
                    for one in refused
                ]
        finally:
            writer.close()
        columns = list(zip((sent, None, None, None, None, None), *found, strict=True))
        arrays = [pa.array(columns[0], pa.int64()), *(pa.array(column, pa.string()) for column in columns[1:])]
        yield pa.RecordBatch.from_arrays(arrays, names=["sent", "index_name", "id", "action", "document", "reason"])

    def _conform(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The table's own types in place of Spark's."""
        target = {field.name: field.type for field in arrow_schema(self.schema)}
        columns = [
            batch.column(i).cast(target.get(name, batch.column(i).type)) for i, name in enumerate(batch.schema.names)
        ]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


class ElasticsearchSink:
    """Indexes, to be written."""

    def __init__(self, writer: DocumentWriter, refused: RefusedDocuments, name: str) -> None:
        self._writer = writer
        self._refused = refused
        self._name = name
        self.takes = Changes.UPSERT if writer.schema.primary_key else Changes.APPEND

    def write_batch(self, rows: Rows, *, overwrite: bool = False) -> None:
        """Write documents; they are kept when this returns."""
        if overwrite:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {self._name}: an index is not overwritten; delete it on the server, then INSERT INTO."
            )
        self._write(rows.frame, f"insert-{SystemEntropy().uuid().hex}")

    def write_stream(self, rows: Rows, begin: Begin) -> StreamingQuery:
        """Micro-batches: by key each has its effect once, without a key at least once."""

        def write(frame: DataFrame, batch_id: int) -> None:
            query = frame.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
            self._write(frame, f"{query}-{batch_id:010}")

        return begin(rows.frame).foreachBatch(write).start()

    def _write(self, frame: DataFrame, batch: str) -> None:
        told = frame.mapInArrow(self._writer, _OUT).where("sent IS NULL").drop("sent").collect()
        self._refused.take(frame.sparkSession, told, batch)
