"""A table's metadata file, as much of it as readers need."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.lake.iceberg.schema.format_version import check_readable
from lakeward.lake.round_properties import is_tiering_round
from lakeward.model.table import TablePath

#: The tag on the newest round: no engine expires a snapshot that is tagged, whoever else writes to the table.
ROUND_TAG = "lakeward-tiering"


@dataclass(frozen=True, slots=True)
class DocumentSnapshot:
    """A snapshot; `properties` is its summary."""

    snapshot_id: int
    parent_id: int | None
    sequence_number: int
    timestamp_ms: int
    manifest_list: str | None
    properties: Mapping[str, str]

    @property
    def is_round(self) -> bool:
        """Whether a tiering service made it."""
        return is_tiering_round(self.properties)


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One column of a partition spec: what it is made of, and how."""

    column: str
    transform: str


@dataclass(frozen=True, slots=True)
class TableDocument:
    """One state of a table."""

    #: Type and id of the columns, by name; nested types are left out.
    columns: Mapping[str, tuple[int, str]]
    #: The names of all columns by id, also of those that are no longer there.
    names: Mapping[int, str]
    specs: Mapping[int, tuple[PartitionField, ...]]
    snapshots: Mapping[int, DocumentSnapshot]
    current_id: int | None
    tags: Mapping[str, int]

    @classmethod
    def of_json(cls, text: str | bytes, path: TablePath) -> TableDocument:
        """The document of a metadata file of this table; one in a version that is not read here is refused."""
        told = json.loads(text)
        check_readable(told["format-version"], path)
        schemas = told.get("schemas") or [told["schema"]]
        current = next((s for s in schemas if s.get("schema-id") == told.get("current-schema-id")), schemas[-1])
        names = {field["id"]: field["name"] for schema in schemas for field in schema["fields"]}
        names |= {field["id"]: field["name"] for field in current["fields"]}
        specs = told.get("partition-specs") or [{"spec-id": 0, "fields": told.get("partition-spec", [])}]
        current_id = told.get("current-snapshot-id")
        return cls(
            {f["name"]: (f["id"], f["type"]) for f in current["fields"] if isinstance(f["type"], str)},
            names,
            {s["spec-id"]: tuple(_partition_field(f, names) for f in s["fields"]) for s in specs},
            {s["snapshot-id"]: _snapshot(s) for s in told.get("snapshots", ())},
            None if current_id in {None, -1} else current_id,
            {name: r["snapshot-id"] for name, r in told.get("refs", {}).items() if r["type"] == "tag"},
        )

    def history(self, snapshot_id: int | None = None) -> Iterator[DocumentSnapshot]:
        """A snapshot, the newest, and those it was built on, as far back as the table remembers."""
        newest = self.current_id if snapshot_id is None else snapshot_id
        found = None if newest is None else self.snapshots.get(newest)
        while found is not None:
            yield found
            found = None if found.parent_id is None else self.snapshots.get(found.parent_id)


def _partition_field(field: Mapping[str, Any], names: Mapping[int, str]) -> PartitionField:
    return PartitionField(names[field["source-id"]], field["transform"])


def _snapshot(told: Mapping[str, Any]) -> DocumentSnapshot:
    return DocumentSnapshot(
        told["snapshot-id"],
        told.get("parent-snapshot-id"),
        told.get("sequence-number", 0),
        told["timestamp-ms"],
        told.get("manifest-list"),
        told.get("summary", {}),
    )
