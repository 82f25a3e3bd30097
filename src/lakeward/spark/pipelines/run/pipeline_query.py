"""PipelineQuery: one attempt to run a pipeline, as a streaming query of Spark."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.plan import TablePlan, plan_tables
from lakeward.spark.pipelines.run.origin import check_origin
from lakeward.spark.pipelines.run.pipeline_meter import PipelineMeter
from lakeward.spark.pipelines.sinks.open_sink import open_sink
from lakeward.spark.pipelines.source import PipelineSource
from lakeward.spark.pipelines.write.batch_writer import BatchWriter
from lakeward.spark.pipelines.write.computed_table import ComputedTables
from lakeward.spark.pipelines.write.report import Report
from lakeward.spark.scripts.jobs.checkpoint_check import check_checkpoint, is_unused
from lakeward.spark.scripts.jobs.spark_failure import is_of_spark, plain_reason
from lakeward.spark.setup.ingest_sources import register_sources
from lakeward.spark.setup.own_pool import own_pool
from lakeward.spark.setup.secret_settings import add_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_CAUSES_MAX = 20
_PATIENCE_S = 5.0
_PAUSE_S = 0.05
_STAGING = "lakeward-sink"


class PipelineQuery:
    """Prepared when it is made, started when it is told to."""

    def __init__(
        self,
        spark: SparkSession,
        definition: PipelineDefinition,
        checkpoint: str,
        meter: PipelineMeter,
        write_line: Callable[[str], None],
    ) -> None:
        check_origin(definition, checkpoint)
        check_checkpoint(definition.name, checkpoint)
        self._definition = definition
        self._checkpoint = checkpoint
        self._meter = meter
        self._session = pipeline_session(spark, definition)
        self._source = PipelineSource(definition)
        tables = self._source.tables()
        mark = check_origin(definition, checkpoint, [table.id for table in tables])
        self._sink = open_sink(definition, f"{checkpoint}/{_STAGING}", mark, write_line)
        self._computed = ComputedTables(self._session, definition, self._sink)
        self.plans: list[TablePlan] = plan_tables(definition, tables, self._computed.infer)
        self.notes = self._sink.prepare(self.plans, makes=True, has_begun=not is_unused(checkpoint))
        meter.expect(self.plans)
        self._query: StreamingQuery | None = None
        self._writer: BatchWriter | None = None

    def start(self, *, once: bool) -> None:
        """Begin, or go on where it was. `once`: what is there now, and no more."""
        writer = self._writer = BatchWriter(self._definition, self._sink, self._computed, self._take)
        stream = self._source.stream(self._session).writeStream.foreachBatch(writer)
        stream = stream.queryName(self._definition.name).option("checkpointLocation", self._checkpoint)
        with own_pool(self._session, self._definition.name):
            self._query = (stream.trigger(availableNow=True) if once else stream).start()

    def look(self) -> bool:
        """Take Spark's last report; whether the query goes on."""
        assert self._query is not None
        java: Any = self._query._jsq
        last = java.lastProgress()
        if last is not None:
            self._meter.look(json.loads(last.json()))
        return bool(self._query.isActive)

    def failure(self) -> str | None:
        """Why it ended, if it failed."""
        assert self._query is not None
        java: Any = self._query._jsq
        thrown = java.exception()
        if not thrown.isDefined():
            return None
        wrong = None if self._writer is None else self._writer.failure
        if wrong is not None and not is_of_spark(wrong):
            return wrong.message if isinstance(wrong, LakewardError) else f"{type(wrong).__name__}: {wrong}"
        messages: list[str] = []
        cause = thrown.get()
        while cause is not None and len(messages) < _CAUSES_MAX:
            messages.append(str(cause.getMessage() or cause.toString()))
            cause = cause.getCause()
        return plain_reason("\n".join(messages), messages[-1])

    def stop(self) -> None:
        """End when the batch under way is written, or in a few seconds: it would be repeated then."""
        if self._query is None:
            return
        resting, java = threading.Event(), self._query._jsq
        for _ in range(int(_PATIENCE_S / _PAUSE_S)):
            if not self._query.isActive or not java.status().isTriggerActive():
                break
            resting.wait(_PAUSE_S)
        with contextlib.suppress(Exception):
            self._query.stop()

    def _take(self, batch_id: int, report: Report) -> None:
        del batch_id
        self._meter.take(report)


def pipeline_session(spark: SparkSession, definition: PipelineDefinition) -> SparkSession:
    """A session of a pipeline's own: time zones and settings of one do not reach the others."""
    found = spark.newSession()
    found.conf.set("spark.sql.session.timeZone", definition.time_zone or "UTC")
    for key, value in definition.settings.items():
        try:
            add_settings(found, {key: value})
        except Exception as wrong:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{key}' of pipeline '{definition.name}' cannot be set while Spark runs; give it with -D {key}=…."
            ) from wrong
    return register_sources(found)
