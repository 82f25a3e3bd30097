"""schema-N: the columns, keys and options of a Paimon table, as Apache Fluss's coordinator writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.lake.files import whole_files
from lakeward.lake.files.s3_path import LakePath
from lakeward.lake.paimon.schema.format_version import PaimonFile
from lakeward.lake.paimon.schema.types import SYSTEM_TYPES, paimon_type
from lakeward.lake.rows.system_columns import BUCKET
from lakeward.model.data_types import DataType
from lakeward.model.schema import Column
from lakeward.model.table import TableInfo
from lakeward.options.table import LAKE_FORMAT

_DIRECTORY, _PREFIX = "schema", "schema-"
_OURS, _THEIRS = "paimon.", "fluss."


@dataclass(frozen=True, slots=True)
class PaimonField:
    """A column: its id, name, type as JSON and comment."""

    id: int
    name: str
    type: Any
    description: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As the schema file has it."""
        found = {"id": self.id, "name": self.name, "type": self.type}
        return found if self.description is None else found | {"description": self.description}


@dataclass(frozen=True, slots=True)
class PaimonSchema:
    """One version of a table's schema."""

    id: int
    fields: tuple[PaimonField, ...]
    highest_field_id: int
    partition_keys: tuple[str, ...]
    primary_keys: tuple[str, ...]
    options: dict[str, str]
    comment: str | None
    time_ms: int

    def to_json(self) -> str:
        """The text of the file."""
        document = {
            "version": PaimonFile.SCHEMA.written,
            "id": self.id,
            "fields": [f.to_json() for f in self.fields],
            "highestFieldId": self.highest_field_id,
            "partitionKeys": self.partition_keys,
            "primaryKeys": self.primary_keys,
            "options": self.options,
            "comment": self.comment,
            "timeMillis": self.time_ms,
        }
        return json.dumps({k: v for k, v in document.items() if v is not None}, indent=2)

    @classmethod
    def read(cls, path: LakePath) -> PaimonSchema:
        """Back from a file; a version that is not read here is refused."""
        found = json.loads(path.read_text())
        PaimonFile.SCHEMA.check(found.get("version", 1), path)
        return cls(
            found["id"],
            tuple(PaimonField(f["id"], f["name"], f["type"], f.get("description")) for f in found["fields"]),
            found["highestFieldId"],
            tuple(found["partitionKeys"]),
            tuple(found["primaryKeys"]),
            dict(found["options"]),
            found.get("comment"),
            found.get("timeMillis", 0),
        )

    def with_columns(self, columns: Sequence[Column], now_ms: int) -> PaimonSchema:
        """The next version, with new columns in front of the system columns."""
        ids = count(self.highest_field_id + 1)
        new = [_field(ids, c.name, c.type.as_nullable(), c.comment) for c in columns]
        at = next((i for i, f in enumerate(self.fields) if f.name == BUCKET), len(self.fields))
        return replace(
            self,
            id=self.id + 1,
            fields=(*self.fields[:at], *new, *self.fields[at:]),
            highest_field_id=next(ids) - 1,
            time_ms=now_ms,
        )


def schema_of(info: TableInfo, now_ms: int) -> PaimonSchema:
    """The first schema of the lake's table for one of ours."""
    ids = count()
    fields = [_field(ids, c.name, c.type, c.comment) for c in info.schema.columns]
    fields += [_field(ids, name, type_, None) for name, type_ in SYSTEM_TYPES]
    return PaimonSchema(
        0,
        tuple(fields),
        next(ids) - 1,
        info.descriptor.partition_keys,
        info.schema.primary_key,
        _options(info),
        info.descriptor.comment,
        now_ms,
    )


def newest_schema(table: LakePath) -> PaimonSchema | None:
    """The newest schema of the table in this directory, if there is a table."""
    numbers = [int(p.name.removeprefix(_PREFIX)) for p in (table / _DIRECTORY).glob(f"{_PREFIX}*")]
    if not numbers:
        return None
    return PaimonSchema.read(table / _DIRECTORY / f"{_PREFIX}{max(numbers)}")


def create_schema(table: LakePath, schema: PaimonSchema) -> bool:
    """Write a new version; False if somebody else wrote that version first."""
    return whole_files.create(table / _DIRECTORY / f"{_PREFIX}{schema.id}", schema.to_json().encode())


def check_types(schema: PaimonSchema, info: TableInfo) -> None:
    """Refuse a lake table whose columns hold something else than ours."""
    known = {f.name: f.type for f in schema.fields if isinstance(f.type, str)}
    for column in info.schema.columns:
        ours = paimon_type(column.type.as_nullable(), count())
        theirs = known.get(column.name, ours)
        if isinstance(ours, str) and theirs.removesuffix(" NOT NULL") != ours:
            raise ErrorCode.INVALID_TABLE.error(
                f"Column '{column.name}' of {info.path} is {theirs} in the lake, which does not hold {ours}."
            )


def _field(ids: count[int], name: str, type_: DataType, comment: str | None) -> PaimonField:
    number = next(ids)
    return PaimonField(number, name, paimon_type(type_, ids), comment)


def _options(info: TableInfo) -> dict[str, str]:
    descriptor = info.descriptor
    found = {"bucket": "-1", "partition.legacy-name": "false"}
    if LAKE_FORMAT.read(descriptor.properties) != "paimon":
        # Its buckets are by another hash than Paimon's, which readers would look by.
        if descriptor.has_primary_key:
            raise ErrorCode.INVALID_TABLE.error(
                f"{info.path} was created without 'table.datalake.format' = 'paimon', so its keys are in other buckets "
                f"than Paimon would put them: tier it into Iceberg, or create it anew with that property."
            )
    elif descriptor.bucket_keys:
        found |= {"bucket": str(info.bucket_count), "bucket-key": ",".join(descriptor.bucket_keys)}
    if descriptor.has_primary_key:
        found["changelog-producer"] = "input"
    for key, value in (*descriptor.properties.items(), *descriptor.custom_properties.items()):
        found[key.removeprefix(_OURS) if key.startswith(_OURS) else _THEIRS + key] = value
    return found
