"""Report: what a task tells the driver, as rows of one shape.

rows      a table and how many of its rows were written, and when the last was committed
computed  … that were left for Spark to compute
part      what the sink's writer hands back; `name` is the table of the sink
schema    a schema change, as JSON
note      a sentence for people
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from lakeward.spark.pipelines.sinks.port import Part

SPARK_COLUMNS = "kind STRING, name STRING, rows BIGINT, committed_ms BIGINT, payload BINARY"
_ARROW = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("rows", pa.int64()),
        ("committed_ms", pa.int64()),
        ("payload", pa.binary()),
    ]
)


@dataclass(slots=True)
class Report:
    """What was done with some envelopes."""

    rows: dict[str, int] = field(default_factory=dict)
    computed: dict[str, int] = field(default_factory=dict)
    committed_ms: dict[str, int] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    schemas: list[bytes] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, table: str, rows: int, committed_ms: int | None, *, is_computed: bool = False) -> None:
        """Rows of a table went by."""
        into = self.computed if is_computed else self.rows
        into[table] = into.get(table, 0) + rows
        if committed_ms is not None:
            self.committed_ms[table] = max(committed_ms, self.committed_ms.get(table, 0))

    def add(self, other: Report) -> None:
        """Take in what another one says."""
        for table, rows in other.rows.items():
            self.count(table, rows, other.committed_ms.get(table))
        for table, rows in other.computed.items():
            self.count(table, rows, other.committed_ms.get(table), is_computed=True)
        self.parts += other.parts
        self.schemas += other.schemas
        self.notes += other.notes

    def batch(self) -> pa.RecordBatch:
        """The rows of this report."""
        rows: list[tuple[str, str | None, int | None, int | None, bytes | None]] = []
        for kind, counts in (("rows", self.rows), ("computed", self.computed)):
            rows += [(kind, name, count, self.committed_ms.get(name), None) for name, count in counts.items()]
        rows += [("part", part.target, None, None, part.content) for part in self.parts]
        rows += [("schema", None, None, None, change) for change in self.schemas]
        rows += [("note", note, None, None, None) for note in self.notes]
        columns: list[Any] = [list(column) for column in zip(*rows, strict=True)] or [[]] * len(_ARROW)
        arrays = [pa.array(column, f.type) for column, f in zip(columns, _ARROW, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)

    @classmethod
    def of_rows(cls, rows: Iterable[Any]) -> Report:
        """What tasks said, from the rows that Spark collected."""
        found = cls()
        for row in rows:
            match row["kind"]:
                case "rows" | "computed":
                    found.count(row["name"], row["rows"], row["committed_ms"], is_computed=row["kind"] == "computed")
                case "part":
                    found.parts.append(Part(row["name"], bytes(row["payload"])))
                case "schema":
                    found.schemas.append(bytes(row["payload"]))
                case _:
                    found.notes.append(row["name"])
        return found


def only(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch as Spark takes it from a task."""
    yield batch
