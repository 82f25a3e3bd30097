"""What is read of which lake, as it travels to the tasks: the table, and the files that a task reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from pyspark.sql.datasource import InputPartition

from lakeward.lake.port import LakeFile, LakeReader
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TablePath
from lakeward.model.type_text import parse_type
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.spark.scripts.connectors.lake.opened_lake import OpenedLake, chosen_snapshot
from lakeward.spark.table.one_sentence import each_in_one_sentence, one_sentence
from lakeward.spark.table.spark_arrow import spark_arrow_schema, to_spark

if TYPE_CHECKING:
    import pyarrow as pa

_TASK_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class LakeSpec:
    """What is read of which lake, as it travels to the tasks."""

    format: str
    properties: Mapping[str, str] = field(repr=False)
    table: str
    columns: tuple[tuple[str, str], ...]
    snapshot_id: int | None = None
    tag: str | None = None
    as_of_ms: int | None = None

    def to_json(self) -> str:
        """As text."""
        chosen = [self.snapshot_id, self.tag, self.as_of_ms]
        return json.dumps([self.format, dict(self.properties), self.table, self.columns, *chosen])

    @classmethod
    def of_json(cls, text: str) -> Self:
        """What `to_json` wrote."""
        name, properties, table, columns, *chosen = json.loads(text)
        return cls(name, properties, table, tuple((c, t) for c, t in columns), *chosen)

    @property
    def schema(self) -> Schema:
        """The columns."""
        return Schema(tuple(Column(name, parse_type(type_)) for name, type_ in self.columns))

    def open(self) -> LakeReader:
        """The table as it is now."""
        return OpenedLake.of(self.format, self.properties).reader(TablePath.parse(self.table))

    def choose(self, reader: LakeReader) -> int | None:
        """The snapshot to read."""
        path = TablePath.parse(self.table)
        found = chosen_snapshot(path, reader, self.snapshot_id, self.tag, self.as_of_ms)
        return None if found is None else found.snapshot_id


@dataclass
class LakeFiles(InputPartition):
    """Files that one task reads: of one place where only together they make sense."""

    files: list[LakeFile]


def shares_of(reader: LakeReader, snapshot_id: int | None) -> list[InputPartition]:
    """The files of a snapshot, spread over tasks."""
    if snapshot_id is None:
        return [LakeFiles([])]
    placed = reader.files(snapshot_id)
    if reader.merges:
        places: dict[Any, list[LakeFile]] = {}
        for each in placed:
            places.setdefault(each.place, []).append(each.file)
        return [LakeFiles(files) for files in places.values()] or [LakeFiles([])]
    shares: list[InputPartition] = []
    share: list[LakeFile] = []
    for each in placed:
        share.append(each.file)
        if sum(file.bytes for file in share) >= _TASK_BYTES:
            shares.append(LakeFiles(share))
            share = []
    return [*shares, LakeFiles(share)] if share or not shares else shares


def rows_of(spec: LakeSpec, files: list[LakeFile]) -> Iterator[pa.RecordBatch]:
    """The rows of some files in Spark's types."""
    if not files:
        return
    schema = spec.schema
    target = spark_arrow_schema(schema)
    with one_sentence():
        batches = spec.open().rows(files, arrow_schema(schema))
    for batch in each_in_one_sentence(batches):
        yield to_spark(batch, target)
