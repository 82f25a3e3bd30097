"""Primary key tables for the tests of mergers: rows go in and come out as tuples of values."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Aggregate, Column, Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.records.row import compacted_row, indexed_row
from lakeward.records.row.row_codec import RowCodec
from lakeward.storage.kv.merge.changelog import Change, ChangeType, Image, changes
from lakeward.storage.kv.merge.merge_engines import LastRow, merger_for
from lakeward.storage.kv.merge.row_merger import Fate, Merged, RowMerger, deletes_for
from lakeward.storage.kv.merge.value_rows import ValueRows

Row = tuple[Any, ...]


def column(name: str, type_: DataType, function: str | None = None, **parameters: str) -> Column:
    """A column, with an aggregate function if one is named."""
    return Column(name, type_, aggregate=Aggregate(function, tuple(parameters.items())) if function else None)


@dataclass
class PkTable:
    """A table with all the schemas it has had."""

    columns: Sequence[Column | tuple[str, DataType]]
    primary_key: Sequence[str] = ("k",)
    properties: dict[str, str] = field(default_factory=dict)
    auto_increment: Sequence[str] = ()

    def __post_init__(self) -> None:
        """The first schema has the id 1."""
        self.schemas = {1: Schema.of(self.columns, self.primary_key, self.auto_increment)}

    def add_column(self, new: Column) -> int:
        """Grow by a column; returns the new schema id."""
        schema_id = max(self.schemas) + 1
        self.schemas[schema_id] = self.schemas[schema_id - 1].add_column(new)
        return schema_id

    @property
    def info(self) -> TableInfo:
        """The table as the server knows it."""
        latest = max(self.schemas)
        descriptor = TableDescriptor(self.schemas[latest], bucket_count=1, properties=self.properties)
        return TableInfo(TablePath("shop", "orders"), 7, latest, descriptor, 0, 0)

    def schema_of(self, schema_id: int) -> Schema:
        """A schema by its id."""
        if schema_id not in self.schemas:
            raise ErrorCode.SCHEMA_NOT_EXIST.error(f"There is no schema {schema_id}.")
        return self.schemas[schema_id]

    def merger(self, targets: Sequence[int] | None = None, *, overwrite: bool = False, **more: Any) -> RowMerger:
        """The merger of a request; one row at a time also where a batch could be done at once."""
        chosen = merger_for(self.info, self.schema_of, target_columns=targets, overwrite=overwrite, **more)
        plain = LastRow(ValueRows(self.info, self.schema_of), deletes_for(self.info, overwrite=overwrite))
        return chosen or plain

    def codec(self, schema_id: int) -> RowCodec:
        """The format of rows, under a schema. A short decimal may hold more digits than its type has."""
        types = tuple(_roomy(c.type) for c in self.schemas[schema_id].columns)
        indexed = self.properties.get("table.kv.format") == "INDEXED"
        return indexed_row.codec(types) if indexed else compacted_row.codec(types)

    def value(self, *cells: Any, schema_id: int | None = None) -> bytes:
        """A stored value."""
        schema_id = schema_id or max(self.schemas)
        return schema_id.to_bytes(2, "little") + self.codec(schema_id).encode(cells)

    def row(self, value: bytes) -> Row:
        """The cells of a stored value."""
        return self.codec(int.from_bytes(value[:2], "little")).decode(value[2:])

    def outcome(self, merged: Merged) -> Row | Fate:
        """What a merger decided, readable."""
        return merged if isinstance(merged, Fate) else self.row(merged)

    def upsert(self, old: Row | None, new: Row, **choice: Any) -> Row | Fate:
        """What becomes of an old row when a new one arrives."""
        stored = None if old is None else self.value(*old)
        return self.outcome(self.merger(**choice).upsert(stored, self.value(*new)))

    def delete(self, old: Row | None, **choice: Any) -> Row | Fate:
        """What becomes of an old row when its deletion arrives."""
        return self.outcome(self.merger(**choice).delete(None if old is None else self.value(*old)))

    def apply(
        self, state: dict[bytes, bytes], records: Sequence[tuple[bytes, Row | None]], image: Image = Image.FULL
    ) -> list[tuple[str, Row]]:
        """Apply whole rows and deletions; returns the changelog."""
        stored = [(key, None if row is None else self.value(*row)) for key, row in records]
        return self.readable(apply_records(state, stored, self.merger(), image))

    def readable(self, log: Sequence[Change]) -> list[tuple[str, Row]]:
        """A changelog as people write it."""
        return [(change.type.name, self.row(change.value)) for change in log]


def _roomy(type_: DataType) -> DataType:
    if type_.root is TypeRoot.DECIMAL and type_.precision is not None and type_.precision < 18:
        return replace(type_, precision=18)
    return type_


INT, STRING = t.INT(), t.STRING()


def apply_records(
    state: MutableMapping[bytes, bytes],
    records: Iterable[tuple[bytes, bytes | None]],
    merger: RowMerger,
    image: Image = Image.FULL,
    *,
    blind: bool = False,
) -> list[Change]:
    """Merge records, (key, value) or (key, None) for a deletion, into the state, in order; returns the changelog."""
    log: list[Change] = []
    for key, new in records:
        old = state.get(key)
        merged = merger.delete(old) if new is None else merger.upsert(old, new)
        if blind and isinstance(merged, bytes):
            log.append(Change(ChangeType.UPDATE_AFTER, merged))
        else:
            log += changes(old, merged, image)
        if isinstance(merged, bytes):
            state[key] = merged
        elif merged is Fate.REMOVE:
            del state[key]
    return log
