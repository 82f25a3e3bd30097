"""A sink by the type that a file says."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.errors import ErrorCode
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.spark.pipelines.sinks.fluss_sink import FlussSink
from lakeward.spark.pipelines.sinks.iceberg_sink import IcebergSink
from lakeward.spark.pipelines.sinks.kafka_sink import KafkaSink
from lakeward.spark.pipelines.sinks.port import Sink
from lakeward.spark.pipelines.sinks.print_sink import PrintSink


def open_sink(definition: PipelineDefinition, staging: str, mark: str, write_line: Callable[[str], None]) -> Sink:
    """The sink of a pipeline; nothing is spoken to yet.

    `staging` and `mark` are of its checkpoint: a place, and a name that no other has. `write_line` is where `print`
    prints.
    """
    match definition.sink.type:
        case "fluss":
            return FlussSink(definition.sink.options, definition.schema_changes, staging)
        case "iceberg":
            return IcebergSink(definition.sink.options, definition.schema_changes, staging, mark)
        case "kafka":
            return KafkaSink(definition, f"{definition.name}-{mark}", staging)
        case "print":
            return PrintSink(definition.sink.options, write_line)
        case other:
            raise ErrorCode.INVALID_CONFIG.error(f"There is no sink of the type '{other}'.")
