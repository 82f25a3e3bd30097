"""BatchWriter: what `foreachBatch` calls. A batch that comes again ends as it did the first time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from lakeward.capture.json_forms import change_of_json
from lakeward.pipelines.definition import End, PipelineDefinition
from lakeward.pipelines.plan import is_computed
from lakeward.spark.pipelines.sinks.port import Sink
from lakeward.spark.pipelines.write.computed_table import ComputedTables
from lakeward.spark.pipelines.write.report import SPARK_COLUMNS, Report
from lakeward.spark.pipelines.write.write_task import WriteTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Tell = Callable[[int, Report], None]


class BatchWriter:
    """Writes the micro-batches of one pipeline."""

    def __init__(self, definition: PipelineDefinition, sink: Sink, computed: ComputedTables, tell: Tell) -> None:
        """`tell` is given what each batch did, when it is done."""
        # What tasks get needs no way into the source.
        self._definition = replace(definition, source=End(definition.source.type, {}))
        self._sink = sink
        self._computed = computed
        self._has_computed = any(one.filter or one.projection for one in definition.transforms)
        self._tell = tell
        self.failure: Exception | None = None

    def __call__(self, envelopes: DataFrame, batch_id: int) -> None:
        """Write one batch. Why it failed is kept: what Spark makes of it is a page of its own code."""
        if self._has_computed:
            envelopes.persist()
        try:
            report = self._write(envelopes, batch_id)
            self._sink.commit(batch_id, report.parts)
        except Exception as wrong:
            self.failure = wrong
            raise
        finally:
            if self._has_computed:
                envelopes.unpersist()
        self._tell(batch_id, report)

    def _write(self, envelopes: DataFrame, batch_id: int) -> Report:
        task = WriteTask(self._definition, self._sink, batch_id)
        report = Report.of_rows(envelopes.mapInArrow(task, SPARK_COLUMNS).collect())
        names = [*report.computed, *(name for name in self._altered_names(report) if name not in report.computed)]
        if names:
            computed = self._computed.write(envelopes, batch_id, names)
            report.computed.clear()
            report.add(computed)
        return report

    def _altered_names(self, report: Report) -> list[str]:
        """Computed tables whose schemas were changed."""
        ids = [change_of_json(json.loads(text)).id for text in report.schemas]
        return list(dict.fromkeys(str(id_) for id_ in ids if is_computed(self._definition, id_)))
