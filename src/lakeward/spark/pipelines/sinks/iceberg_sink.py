"""IcebergSink: rows straight into tables of an Iceberg catalog; a micro-batch is one snapshot of each table.

The files are those of tiering (`lake.iceberg`), so tables have its three system columns as well: `__bucket`, 0;
`__offset`, the number of the micro-batch; `__timestamp`, when it was written. The snapshot says which batch it was,
of which pipeline: one that comes again is not written again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.lake.formats import lake_format
from lakeward.lake.port import LakeCatalog, LakePlace
from lakeward.lake.round_properties import RoundProperties
from lakeward.lake.rows.system_columns import BUCKET, CHANGE, OFFSET, SYSTEM_FIELDS, TIMESTAMP
from lakeward.model.bucket import TableBucket
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.pipelines.changes import to_upserts
from lakeward.pipelines.evolution import Evolution
from lakeward.pipelines.plan import TablePlan
from lakeward.pipelines.rows.behavior import SchemaChanges
from lakeward.pipelines.sink_check import check_fit
from lakeward.runtime.clock import SystemClock
from lakeward.spark.pipelines.sinks.port import Part
from lakeward.spark.pipelines.sinks.staged_rows import StagedRows, forget_staged, staged_batches
from lakeward.spark.scripts.jobs.job_home import local_path

_CATALOG, _TABLE = "catalog.properties.", "table.properties."
_PLACE = LakePlace(0)
_PUT, _GONE = 1, 4


class IcebergSink:
    """One catalog."""

    def __init__(self, options: Mapping[str, str], behavior: SchemaChanges, staging: str, mark: str) -> None:
        """`mark` is the checkpoint's: numbers of batches are its own."""
        self._options = dict(options)
        self._staging = staging
        self._mark = mark
        self._behavior = behavior

    def prepare(self, plans: Sequence[TablePlan], *, makes: bool, has_begun: bool = False) -> list[str]:
        """Make tables and check those that are there."""
        notes: list[str] = []
        wrong: list[str] = []
        catalog = self.catalog()
        for plan in {plan.target: plan for plan in plans}.values():
            if plan.partition_keys:
                wrong.append(f"'partition-keys' of {plan.source.id} are not possible with the sink iceberg.")
                continue
            there = columns_there(catalog, plan)
            if there is None:
                notes.append(f"{plan.target} {'is' if makes else 'would be'} made")
            else:
                against, told = check_fit(plan, there, self._behavior, has_begun=has_begun)
                wrong += against
                notes += told
            if makes and not wrong and self._may_make(there):
                catalog.ensure(self._info(plan.target, plan.schema))
        if wrong:
            raise ErrorCode.INVALID_TABLE.error("\n".join(wrong))
        return notes

    def _may_make(self, there: Schema | None) -> bool:
        return there is None or self._behavior not in {SchemaChanges.EXCEPTION, SchemaChanges.IGNORE}

    def writer(self, batch_id: int) -> IcebergWriter:
        """A writer for the rows of a task."""
        place = local_path(self._staging)
        return IcebergWriter(self, None if place is None else place / str(batch_id))

    def commit(self, batch_id: int, parts: Sequence[Part]) -> None:
        """A snapshot for each table, unless it is there."""
        catalog = self.catalog()
        for target in dict.fromkeys(part.target for part in parts):
            self._commit_table(catalog, target, batch_id, [part.content for part in parts if part.target == target])
        for part in parts:
            forget_staged(part.content)

    def _commit_table(self, catalog: LakeCatalog, target: str, batch_id: int, contents: Sequence[bytes]) -> None:
        described: Any = catalog
        found = described.describe(TablePath.parse(target))
        info = self._info(target, own_columns(found.schema))
        table = catalog.ensure(info)
        latest = table.latest()
        bucket = TableBucket(info.table_id, None, 0)
        if latest is not None and (latest.offsets or {}).get(bucket, 0) > batch_id:
            return
        writer = lake_format("iceberg").writer(table.writing([_PLACE])[0], _PLACE)
        try:
            for content in contents:
                for rows, kinds in staged_batches(content):
                    writer.write(_with_system_columns(rows, kinds, info.schema, batch_id))
            written = writer.finish()
        except BaseException:
            writer.abort()
            raise
        round_ = RoundProperties(info.table_id, {bucket: batch_id + 1}, batch_id)
        table.commit([written.record], round_, None if latest is None else latest.snapshot_id)

    def catalog(self) -> LakeCatalog:
        """The catalog, opened."""
        properties = {k.removeprefix(_CATALOG): v for k, v in self._options.items() if k.startswith(_CATALOG)}
        if "warehouse" in self._options:
            properties["warehouse"] = self._options["warehouse"]
        return lake_format("iceberg").catalog(properties)

    def ensure(self, plan: TablePlan, schema: Schema) -> None:
        """The table with these columns."""
        self.catalog().ensure(self._info(plan.target, schema))

    def _info(self, target: str, schema: Schema) -> TableInfo:
        """The table as tiering would know it; its number is this pipeline's own."""
        mark = hashlib.sha256(f"{self._mark}\0{target}".encode()).digest()
        custom = {f"iceberg.{k.removeprefix(_TABLE)}": v for k, v in self._options.items() if k.startswith(_TABLE)}
        descriptor = TableDescriptor(schema, bucket_count=1, custom_properties=custom)
        return TableInfo(TablePath.parse(target), int.from_bytes(mark[:7]), 1, descriptor, 0, 0)


class IcebergWriter:
    """Keeps the rows of a task for the driver."""

    def __init__(self, sink: IcebergSink, place: Any) -> None:
        self._sink = sink
        self._place = place
        self._schemas: dict[str, Schema | None] = {}
        self._rows: dict[str, StagedRows] = {}

    def schema(self, plan: TablePlan) -> Schema | None:
        """As the catalog said when the table was first written here, or changed."""
        if plan.target not in self._schemas:
            self._schemas[plan.target] = columns_there(self._sink.catalog(), plan)
        return self._schemas[plan.target]

    def write(self, plan: TablePlan, rows: pa.RecordBatch, kinds: pa.Array | None) -> None:
        """Keep rows; by key, as puts and deletes."""
        schema = self.schema(plan)
        assert schema is not None
        if schema.primary_key:
            rows, is_put = to_upserts(rows, kinds, schema.primary_key)
            kinds = None if is_put is None else pa.array(np.where(is_put, _PUT, _GONE).astype(np.uint8))
        self._rows.setdefault(plan.target, StagedRows(self._place)).write(rows, kinds)

    def evolve(self, plan: TablePlan, evolution: Evolution) -> None:
        """Add columns; a snapshot is written when the batch is whole."""
        there = self.schema(plan)
        if evolution.is_emptied:
            raise ErrorCode.INVALID_ALTER_TABLE.error(
                f"{plan.source.id} was truncated, and {plan.target} is not emptied by a pipeline: delete its rows by "
                "other means, and set 'schema.change.behavior' to lenient."
            )
        if evolution.is_made and there is None:
            self._sink.ensure(plan, plan.schema)
        elif evolution.add and there is not None:
            more = [column for column in evolution.add if column.name not in there.positions]
            columns = [replace(column, id=-1) for column in (*there.columns, *more)]
            self._sink.ensure(plan, Schema.of(columns, there.primary_key))
        self._schemas.pop(plan.target, None)

    def finish(self) -> list[Part]:
        """What was kept."""
        return [Part(target, rows.finish()) for target, rows in self._rows.items()]

    def abort(self) -> None:
        """Nothing was written."""


def columns_there(catalog: Any, plan: TablePlan) -> Schema | None:
    """The columns of a table without those of the system; None where there is no table."""
    found = catalog.describe(TablePath.parse(plan.target))
    return None if found is None else own_columns(found.schema)


def own_columns(schema: Schema) -> Schema:
    """Without those of the system."""
    hidden = {field.name for field in SYSTEM_FIELDS}
    columns = [replace(column, id=-1) for column in schema.columns if column.name not in hidden]
    return Schema.of(columns, schema.primary_key)


def _with_system_columns(rows: pa.RecordBatch, kinds: pa.Array, schema: Schema, batch_id: int) -> pa.RecordBatch:
    count = rows.num_rows
    now = pa.scalar(SystemClock().now_ms() * 1000, pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    named = {name: rows.column(name) for name in rows.schema.names}
    named[BUCKET] = pa.repeat(pa.scalar(0, pa.int32()), count)
    named[OFFSET] = pa.repeat(pa.scalar(batch_id, pa.int64()), count)
    named[TIMESTAMP] = pa.repeat(now, count)
    if schema.primary_key:
        named[CHANGE] = kinds.cast(pa.int8())
    return pa.RecordBatch.from_arrays(list(named.values()), names=list(named))
