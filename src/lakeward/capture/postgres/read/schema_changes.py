"""What the stream says of a table, compared with what was known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lakeward.capture.port import SchemaChange, SchemaChangeKind, SourceTable, TableId
from lakeward.capture.postgres.decode.messages import Relation
from lakeward.capture.postgres.server.catalog import FULL, Catalog
from lakeward.model.schema import Column, Schema


@dataclass(frozen=True, slots=True)
class Resolved:
    """The table that rows of a relation are of, and what happened to it, if anything did."""

    table: SourceTable
    change: SchemaChange | None = None


def resolve(relation: Relation, known: SourceTable | None, catalog: Catalog) -> Resolved:
    """The table of a relation. Numbers of columns, from the catalog as it is now, tell renames from new columns."""
    id_ = TableId(relation.space, relation.name)
    told = [catalog.column_of(c.name, c.type_oid, c.type_modifier) for c in relation.columns]
    has_before = relation.identity == FULL
    if known is not None and _is_same(told, known.schema.columns):
        return Resolved(known if known.has_before == has_before else replace(known, has_before=has_before))
    now = next((found.table for found in catalog.tables() if found.table.id == id_), None)
    if known is None and now is not None and _is_same(told, now.schema.columns):
        after = replace(now, has_before=has_before)
        return Resolved(after, SchemaChange(SchemaChangeKind.CREATE, id_, None, after))
    columns = number_columns(told, known.schema.columns if known else (), catalog.numbers(id_))
    after = _rebuild(id_, columns, known, now, has_before=has_before)
    if known is None:
        return Resolved(after, SchemaChange(SchemaChangeKind.CREATE, id_, None, after))
    renamed = renames(known.schema.columns, columns)
    return Resolved(after, SchemaChange(SchemaChangeKind.ALTER, id_, known, after, renamed))


def number_columns(told: Sequence[Column], known: Sequence[Column], now: Mapping[int, str]) -> list[Column]:
    """The columns with their numbers: by name as it is now, as it was, or by their place among those that are left."""
    number_of = {column.name: column.id for column in known} | {name: number for number, name in now.items()}
    names = {column.name for column in told}
    # A column that has a third name by now: its number is one that is still there under a name that nobody told us.
    orphans = [c.id for c in known if c.name not in names and c.id in now and now[c.id] not in names]
    free = max([*now, *(c.id for c in known), 0]) + 1
    numbered: list[Column] = []
    for column in told:
        number = number_of.get(column.name)
        if number is None:
            number = orphans.pop(0) if orphans else free
            free += number == free
        numbered.append(replace(column, id=number))
    return numbered


def renames(before: Sequence[Column], after: Sequence[Column]) -> dict[str, str]:
    """Columns that are the same under another name."""
    old = {column.id: column.name for column in before}
    return {old[c.id]: c.name for c in after if c.id in old and old[c.id] != c.name}


def _is_same(told: Sequence[Column], known: Sequence[Column]) -> bool:
    return [(c.name, c.type.as_nullable()) for c in told] == [(c.name, c.type.as_nullable()) for c in known]


def _rebuild(
    id_: TableId, columns: Sequence[Column], known: SourceTable | None, now: SourceTable | None, *, has_before: bool
) -> SourceTable:
    """A table with these columns; what the stream does not tell is taken from what was known, or from the catalog."""
    dressed, native = [], {}
    for column in columns:
        for source in (now, known):
            twin = next((c for c in source.schema.columns if c.id == column.id), None) if source else None
            if source is not None and twin is not None and twin.type.as_nullable() == column.type.as_nullable():
                nullable = twin.type.nullable or source is now  # a constraint may be younger than these rows
                type_ = twin.type.as_nullable() if nullable else twin.type
                column = replace(column, type=type_, comment=twin.comment)
                native[column.name] = source.native_types.get(twin.name, str(column.type))
                break
        dressed.append(column)
    names = {column.name for column in columns}
    renamed = renames(known.schema.columns, columns) if known else {}
    keys = [[renamed.get(k, k) for k in known.schema.primary_key]] if known else []
    keys += [list(now.schema.primary_key)] if now else []
    key = next((k for k in keys if set(k) <= names), [])
    comment = known.comment if known else now.comment if now else None
    return SourceTable(id_, Schema.of(dressed, key), comment, native, has_before)
