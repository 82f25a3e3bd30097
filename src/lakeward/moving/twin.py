"""The twin: the same table in the target, with the same schemas under the same numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lakeward.client.tables.connection import AsyncConnection
from lakeward.client.tables.table import AsyncTable
from lakeward.errors import ErrorCode, InvalidError, LakewardError
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TablePath
from lakeward.moving.report import TableReport
from lakeward.options import table as rows
from lakeward.options.tiering import LAKE_WAREHOUSE, LATE_LAKE_FORMAT, REQUESTED_MS

#: Written into a table that `copy` has made: whose copy it is.
COPY_OF = "lakeward.copy-of"
#: What every cluster decides for itself, unless it is asked for.
_OWN = {rows.REPLICATION_FACTOR.key, rows.REMOTE_DATA_DIR.key}
#: What is true of the source's lake and its tiering alone; the first two come along when a lake is handed over.
LAKE_PLACE = (LAKE_WAREHOUSE.key, LATE_LAKE_FORMAT.key)
_OF_TIERING = {*LAKE_PLACE, REQUESTED_MS.key}
#: Properties that decide what rows look like: they must be the same.
_FORMS = (rows.LOG_FORMAT, rows.KV_FORMAT, rows.MERGE_ENGINE, rows.CHANGELOG_IMAGE)


@dataclass(slots=True)
class Twins:
    """A table on both sides, and every schema it ever had."""

    source: AsyncTable
    target: AsyncTable
    schemas: dict[int, Schema]


def mark_of(source: AsyncTable) -> str:
    """What a copy of this table is marked with."""
    return f"{source.path}#{source.info.table_id}"


async def make_twin(
    source: AsyncConnection,
    target: AsyncConnection,
    path: TablePath,
    given: Mapping[str, str],
    report: TableReport,
    *,
    create: bool = True,
) -> Twins:
    """Find the table in the target, or make it, and bring its schema up to date. `given` are properties of its own."""
    table = await source.table(path)
    schemas = {id_: await table.schema_of(id_) for id_ in range(1, table.info.schema_id)}
    schemas[table.info.schema_id] = table.info.schema
    _check_source(table)
    if not await target.has_table(path):
        if not create:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"The target at {target.bootstrap} has no table {path}.")
        await _create(source, target, table, schemas[1], given, report)
        report.created = True
    twin = await target.table(path)
    if create:
        _tell_in_vain(twin, given, report)
        await _evolve(target, twin, schemas)
    _check_same(table, twin, target.bootstrap)
    return Twins(table, twin, schemas)


def _tell_in_vain(twin: AsyncTable, given: Mapping[str, str], report: TableReport) -> None:
    """A table that was there before keeps its properties."""
    has = twin.info.descriptor.properties
    vain = [f"{key}={value}" for key, value in given.items() if has.get(key) != value]
    if vain:
        report.note(f"it was there already, so --set {' '.join(vain)} has changed nothing; `lakeward tables alter` may")


def _check_source(table: AsyncTable) -> None:
    filled = table.info.schema.auto_increment
    if filled:
        raise ErrorCode.INVALID_TABLE.error(
            f"{table.path} cannot be copied: column '{filled[0]}' is filled by the server (AUTO_INCREMENT), and no "
            "client can give its values to another. Create a table with an ordinary column there, and upsert the rows "
            "of `lakeward dump` into it."
        )


async def _create(
    source: AsyncConnection,
    target: AsyncConnection,
    table: AsyncTable,
    first: Schema,
    given: Mapping[str, str],
    report: TableReport,
) -> None:
    path, told = table.path, table.info.descriptor
    if path.database not in await target.databases():
        database = await source.database(path.database)
        await target.create_database(
            path.database, comment=database.comment, properties=database.properties, exist_ok=True
        )
    properties = {k: v for k, v in told.properties.items() if k not in _OWN}
    if properties.get(rows.LAKE_ENABLED.key, "").lower() == "true":
        properties[rows.LAKE_ENABLED.key] = "false"  # until the lake is handed over, the source alone writes to it
    properties |= given
    custom = {k: v for k, v in told.custom_properties.items() if k not in _OF_TIERING} | {COPY_OF: mark_of(table)}
    descriptor = replace(told, schema=first, properties=properties, custom_properties=custom)
    while True:
        try:
            await target.create_like(path, descriptor)
            return
        except InvalidError as wrong:
            unknown = _refused_property(wrong, descriptor, given)
            if unknown is None:
                raise _creation_error(wrong, target, path) from wrong
            report.note(
                f"the target does not know the property {unknown} = {descriptor.properties[unknown]}; it is left out"
            )
            kept = {k: v for k, v in descriptor.properties.items() if k != unknown}
            descriptor = replace(descriptor, properties=kept)
        except LakewardError as wrong:
            raise _creation_error(wrong, target, path) from wrong


def _refused_property(wrong: LakewardError, descriptor: TableDescriptor, given: Mapping[str, str]) -> str | None:
    """The property that a server refuses because it does not know it; what a person has asked for is not left out."""
    named = re.findall(r"[\w-]+(?:\.[\w-]+)+", wrong.message)
    found = next((name for name in named if name in descriptor.properties), None)
    return None if found in given else found


def _creation_error(wrong: LakewardError, target: AsyncConnection, path: TablePath) -> LakewardError:
    return wrong.code.error(f"{path} cannot be created in the target at {target.bootstrap}: {wrong.message}")


async def _evolve(target: AsyncConnection, twin: AsyncTable, schemas: Mapping[int, Schema]) -> None:
    """Add columns version by version, so that each schema has the number that the batches name."""
    for schema_id in range(twin.info.schema_id + 1, max(schemas) + 1):
        before = {c.id for c in schemas[schema_id - 1].columns}
        new = [c for c in schemas[schema_id].columns if c.id not in before]
        await target.alter_table(twin.path, add_columns=new)
        await twin.refresh()
        if twin.info.schema_id != schema_id:
            raise ErrorCode.INVALID_TABLE.error(
                f"{twin.path} in the target at {target.bootstrap} has schema {twin.info.schema_id} after columns were "
                f"added, not {schema_id}: somebody else alters it."
            )


def _check_same(table: AsyncTable, twin: AsyncTable, where: str) -> None:
    """Refuse a target that is another table."""
    here, there = table.info.descriptor, twin.info.descriptor
    facts: list[tuple[str, object, object]] = [
        ("columns", _columns(here.schema), _columns(there.schema)),
        ("primary key", here.schema.primary_key, there.schema.primary_key),
        ("partition key", here.partition_keys, there.partition_keys),
        ("bucket key", here.bucket_keys, there.bucket_keys),
        ("number of buckets", here.bucket_count, there.bucket_count),
        ("schema number", table.info.schema_id, twin.info.schema_id),
        *((row.key, row.read(here.properties), row.read(there.properties)) for row in _FORMS),
    ]
    if here.bucket_keys:  # it decides how keys are encoded, and which bucket they are in
        lake = rows.LAKE_FORMAT
        facts.append((lake.key, lake.read(here.properties), lake.read(there.properties)))
    for what, ours, theirs in facts:
        if ours != theirs:
            raise ErrorCode.INVALID_TABLE.error(
                f"{table.path} in the target at {where} is another table: {what}: {_as_text(theirs)} there, "
                f"{_as_text(ours)} in the source. Drop it there, or copy the source elsewhere."
            )


def _columns(schema: Schema) -> tuple[str, ...]:
    return tuple(f"{c.name} {c.type}" for c in schema.columns)


def _as_text(fact: object) -> str:
    return ", ".join(map(str, fact)) or "none" if isinstance(fact, tuple) else str(fact)
