"""What is made up, as it travels to the tasks: the table, and the numbers of rows that a task makes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from pyspark.sql.datasource import InputPartition

from lakeward.model.schema import Column, Schema
from lakeward.model.type_text import parse_type
from lakeward.spark.scripts.connectors.datagen.recipes import Recipe, recipes_of
from lakeward.spark.table.spark_arrow import spark_arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 10_000
_TASK_ROWS = 200_000
_TASKS_MAX = 64


@dataclass(frozen=True, slots=True)
class DatagenSpec:
    """What is made up, as it travels to the tasks."""

    columns: tuple[tuple[str, str], ...]
    fields: Mapping[str, str]
    seed: int
    rows_per_second: int
    rows: int | None

    def to_json(self) -> str:
        """As text."""
        return json.dumps([self.columns, dict(self.fields), self.seed, self.rows_per_second, self.rows])

    @classmethod
    def of_json(cls, text: str) -> Self:
        """What `to_json` wrote."""
        columns, fields, seed, rows_per_second, rows = json.loads(text)
        return cls(tuple((name, type_) for name, type_ in columns), fields, seed, rows_per_second, rows)

    @property
    def schema(self) -> Schema:
        """The columns."""
        return Schema(tuple(Column(name, parse_type(type_)) for name, type_ in self.columns))

    def recipes(self) -> tuple[Recipe, ...]:
        """What is made up for each column."""
        return recipes_of(((column.name, column.type) for column in self.schema.columns), self.fields)


@dataclass
class RowRange(InputPartition):
    """The rows that one task makes; `due_ms` is when the row before `due_rows` was due."""

    first: int
    end: int
    due_rows: int
    due_ms: int


def ranges(first: int, end: int, due_ms: int) -> list[InputPartition]:
    """Equal shares of some rows, in order."""
    count = min(_TASKS_MAX, max(1, -(-(end - first) // _TASK_ROWS)))
    cuts = [first + (end - first) * n // count for n in range(count + 1)]
    return [RowRange(cuts[n], cuts[n + 1], end, due_ms) for n in range(count)]


def make_rows(spec: DatagenSpec, part: RowRange) -> Iterator[pa.RecordBatch]:
    """The rows of a share, batch by batch."""
    import numpy as np

    from lakeward.spark.scripts.connectors.datagen.columns import make_batch

    recipes, target = spec.recipes(), spark_arrow_schema(spec.schema)
    for first in range(part.first, part.end, _BATCH_ROWS):
        numbers = np.arange(first, min(first + _BATCH_ROWS, part.end), dtype=np.int64)
        times_ms = part.due_ms - (part.due_rows - 1 - numbers) * 1000 // spec.rows_per_second
        yield make_batch(recipes, target, spec.seed, first, times_ms)
