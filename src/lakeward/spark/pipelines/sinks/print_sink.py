"""PrintSink: a line for each change, written by the driver in the order of the batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakeward.capture.port import ChangeKind
from lakeward.model.schema import Schema
from lakeward.pipelines.evolution import Evolution
from lakeward.pipelines.plan import TablePlan
from lakeward.spark.pipelines.sinks.port import Part
from lakeward.spark.scripts.connectors.row_text import row_text
from lakeward.spark.table.types import spark_schema


class PrintSink:
    """Lines on stdout, or wherever `write_line` puts them."""

    def __init__(self, options: Mapping[str, str], write_line: Callable[[str], None]) -> None:
        self._identifier = options.get("print.identifier", "")
        self._write_line = write_line

    def __getstate__(self) -> dict[str, Any]:
        """Tasks do not print."""
        return {"_identifier": self._identifier, "_write_line": None}

    def prepare(self, plans: Sequence[TablePlan], *, makes: bool, has_begun: bool = False) -> list[str]:
        """Nothing is made."""
        del plans, makes, has_begun
        return []

    def writer(self, batch_id: int) -> PrintWriter:
        """A writer for the rows of a task."""
        del batch_id
        return PrintWriter(self._identifier)

    def commit(self, batch_id: int, parts: Sequence[Part]) -> None:
        """Print what tasks wrote."""
        del batch_id
        for part in parts:
            for line in part.content.decode().splitlines():
                self._write_line(line)


class PrintWriter:
    """Lines of one task."""

    def __init__(self, identifier: str) -> None:
        self._head = f"{identifier}> " if identifier else ""
        self._lines: list[str] = []

    def schema(self, plan: TablePlan) -> Schema | None:
        """Any: rows are shown as they come."""
        return plan.schema

    def write(self, plan: TablePlan, rows: pa.RecordBatch, kinds: pa.Array | None) -> None:
        """A line for each row."""
        from pyspark.sql.types import StructType

        fields = StructType.fromJson(spark_schema(plan.schema)).fields
        types = [field.dataType for field in fields]
        what = [ChangeKind.INSERT] * rows.num_rows if kinds is None else kinds.to_pylist()
        for kind, row in zip(what, rows.to_pylist(), strict=True):
            line = row_text(row.values(), types, ChangeKind(kind).name.lower())
            self._lines.append(f"{self._head}{plan.target} {line}")

    def evolve(self, plan: TablePlan, evolution: Evolution) -> None:
        """Rows come in other columns from here on."""

    def finish(self) -> list[Part]:
        """All lines, in their order."""
        return [Part("", "\n".join(self._lines).encode())] if self._lines else []

    def abort(self) -> None:
        """Nothing was printed."""
