"""Overwriting: what goes when new rows come, and how.

a primary key table     new rows are put, then keys that are not among them are deleted: no row is ever missing
partitions of a log     they are dropped, and made again by the commit that follows
a log without any       a table is filled beside it and takes its place (replacing)
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa

from lakeward.client.blocking.sync import Connection
from lakeward.client.staged.parts.part import Part
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo, TablePath
from lakeward.query.plan.planner import plan_read
from lakeward.query.read.read import read_splits
from lakeward.query.request import filters
from lakeward.query.request.filters import And, Compare, Filter, In, Or
from lakeward.query.request.pushdown import keeps_partition, partition_values
from lakeward.query.request.request import ReadRequest
from lakeward.spark.catalog.replacing import check_replaceable


class Way(enum.Enum):
    """How rows make room for others."""

    BY_KEY = enum.auto()
    BY_PARTITION = enum.auto()
    AS_A_WHOLE = enum.auto()


@dataclass(frozen=True)
class Overwrite:
    """What an overwrite replaces of a table: the partitions that its rows are in, or those that conditions name."""

    info: TableInfo
    dynamic: bool
    conditions: tuple[Filter, ...] = ()

    @classmethod
    def of_call(cls, info: TableInfo, told: Mapping[str, Any] | None) -> Self | None:
        """As the JVM says it; None where rows are only added."""
        mode = (told or {}).get("mode", "append")
        if mode == "append":
            return None
        assert told is not None
        return cls(info, mode == "dynamic", tuple(filters.of_json(f) for f in told.get("filters", ())))

    @property
    def way(self) -> Way:
        """How it is done."""
        if self.info.descriptor.has_primary_key:
            return Way.BY_KEY
        return Way.BY_PARTITION if self.info.descriptor.is_partitioned else Way.AS_A_WHOLE

    def check(self) -> None:
        """Refuse conditions that do not name whole partitions."""
        for condition in self.conditions:
            self._check(condition)

    def _check(self, condition: Filter) -> None:
        keys = self.info.descriptor.partition_keys
        match condition:
            case And(children) | Or(children):
                for child in children:
                    self._check(child)
            case Compare("=" | "<=>", column) | In(column) if column in keys:
                pass
            case _:
                by = f"by the values of {', '.join(keys)}" if keys else "and this table has none"
                raise ErrorCode.PARTITION_SPEC_INVALID.error(
                    f"Table {self.info.path} cannot be overwritten where {condition}: only whole partitions can, {by}."
                )

    def partitions(self, conn: Connection, parts: Sequence[bytes]) -> set[str] | None:
        """The names of the partitions that make room; None for all there is."""
        if not self.info.descriptor.is_partitioned:
            return None
        if self.dynamic:
            return partitions_of(parts)
        if not self.conditions:
            return None
        found = conn.table(str(self.info.path)).partitions()
        return {p.name for p in found if keeps_partition(self.conditions, partition_values(self.info.schema, p.spec))}


def check_overwrite(path: TablePath, info: TableInfo) -> None:
    """Refuse to overwrite what has no partitions, or a lake that would keep the old rows."""
    if not info.descriptor.partition_keys:
        raise ErrorCode.TABLE_NOT_PARTITIONED.error(
            f"Table {path} has no partitions, and without the jar only partitions can be overwritten; append, or drop"
            " the table and create it again."
        )
    check_replaceable(info, "overwritten")


def clear_partitions(conn: Connection, path: TablePath, names: set[str] | None) -> None:
    """Drop these partitions, or all of them; a commit creates them again."""
    table = conn.table(str(path))
    for partition in table.partitions():
        if names is None or partition.name in names:
            table.drop_partition(partition.spec, missing_ok=True)


def partitions_of(parts: Sequence[bytes]) -> set[str]:
    """The partitions that staged parts go to."""
    return {e.partition for part in parts for e in Part.of_bytes(part).entries if e.partition is not None}


def keys_there(conn: Connection, info: TableInfo, names: set[str] | None) -> Iterator[pa.RecordBatch]:
    """The primary keys of all rows there are now, or of those in these partitions."""
    request = ReadRequest(info.path, columns=info.schema.primary_key)
    splits = plan_read(conn, request).splits
    return read_splits(conn, request, [s for s in splits if names is None or s.partition in names])


def stale_keys(there: pa.Table, new: Sequence[pa.Table]) -> pa.Table:
    """The keys that are there and not among the new ones."""
    names = there.column_names
    if not new or not there.num_rows:
        return there
    return there.join(pa.concat_tables(new).cast(there.schema), keys=names, join_type="left anti").select(names)
