"""WriteTask: envelopes in, a report out; what a micro-batch has Spark do on its executors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from lakeward.capture.envelope import ROWS, open_envelope
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.spark.pipelines.sinks.port import Sink
from lakeward.spark.pipelines.write.event_writer import EventWriter
from lakeward.spark.table.one_sentence import one_sentence


@dataclass(frozen=True)
class WriteTask:
    """Writes the envelopes of a partition, in their order."""

    definition: PipelineDefinition
    sink: Sink
    batch_id: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For mapInArrow."""
        first = next(batches, None)
        if first is None:
            return
        with one_sentence():
            writer = self.sink.writer(self.batch_id)
            try:
                events = EventWriter(self.definition, writer)
                batch: pa.RecordBatch | None = first
                while batch is not None:
                    names = [batch.schema.get_field_index(name) for name in ("kind", "payload", "committed_ms")]
                    kinds, payloads, times = (batch.column(place) for place in names)
                    for i in range(batch.num_rows):
                        kind = kinds[i].as_py()
                        payload = payloads[i].as_buffer() if kind == ROWS else payloads[i].as_py()
                        events.take(open_envelope(kind, payload, times[i].as_py()))
                    batch = next(batches, None)
                report = events.finish()
            except BaseException:
                writer.abort()
                raise
        yield report.batch()
