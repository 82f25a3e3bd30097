"""TableView: what the template shows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lakeward.client.forms.results import BucketId
from lakeward.console.pages.tables.property_rows import PropertyRow, property_rows
from lakeward.console.pages.tables.sample_rows import SampleRows, sample_rows
from lakeward.console.pages.tables.table_look import TableLook
from lakeward.model.bucket import TableBucket
from lakeward.options.secrets import without_passwords
from lakeward.telemetry.rows.tables import TABLE_LOG_BYTES, TABLE_STATE_BYTES


@dataclass(frozen=True, slots=True)
class BucketRow:
    """A bucket: where its log begins and ends, and how far the lake has it."""

    number: int
    first: int | None
    end: int
    in_lake: int | None

    @property
    def rows(self) -> int | None:
        """Offsets that the log still has."""
        return None if self.first is None else self.end - self.first


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes on the server (hot) and in remote storage (cold); None where nobody tells."""

    log: float | None
    state: float | None
    remote: float | None

    @property
    def hot(self) -> float | None:
        """Log and state."""
        return None if self.log is None else self.log + (self.state or 0)


@dataclass(frozen=True, slots=True)
class TableView:
    """A table's page."""

    path: str
    kind: str
    columns: list[dict[str, Any]]
    properties: list[PropertyRow]
    custom_properties: list[tuple[str, str]]
    buckets: list[BucketRow]
    sizes: Sizes
    rows: int | None
    lake_snapshot: int | None
    sample: SampleRows | None
    no_sample: str


def view_of(look: TableLook) -> TableView:
    """What is shown of what was found."""
    made = look.info.descriptor
    sample = look.sample
    return TableView(
        path=str(look.info.path),
        kind="primary key table" if made.has_primary_key else "log table",
        columns=_columns(look),
        properties=property_rows(made.properties),
        custom_properties=sorted((key, without_passwords(value)) for key, value in made.custom_properties.items()),
        buckets=_buckets(look),
        sizes=_sizes(look),
        rows=look.rows,
        lake_snapshot=None if look.snapshot is None else look.snapshot.snapshot_id,
        sample=None if isinstance(sample, str) else sample_rows(sample),
        no_sample=without_passwords(sample) if isinstance(sample, str) else "",
    )


def _columns(look: TableLook) -> list[dict[str, Any]]:
    made = look.info.descriptor
    marks = {
        "primary key": made.schema.primary_key,
        "partition key": made.partition_keys,
        "bucket key": made.bucket_keys,
    }
    return [
        {
            "name": column.name,
            "type": str(column.type),
            "comment": column.comment or "",
            "marks": [mark for mark, names in marks.items() if column.name in names],
        }
        for column in made.schema.columns
    ]


def _buckets(look: TableLook) -> list[BucketRow]:
    in_lake = {} if look.snapshot is None else look.snapshot.offsets
    ids = {} if look.partitions is None else {one.name: one.id for one in look.partitions.rows}
    return [
        BucketRow(id_.bucket, look.starts.get(id_), end, in_lake.get(_bucket(look, id_, ids)))
        for id_, end in sorted(look.ends.items(), key=lambda pair: pair[0].bucket)
    ]


def _bucket(look: TableLook, id_: BucketId, ids: dict[str, int]) -> TableBucket:
    return TableBucket(look.info.table_id, None if id_.partition is None else ids.get(id_.partition), id_.bucket)


def _sizes(look: TableLook) -> Sizes:
    path = str(look.info.path)
    metrics = look.metrics
    told = look.remote.get("tables") if look.remote is not None else None
    copied = [one for one in told if one.get("table") == path] if isinstance(told, list) else []
    return Sizes(
        log=None if metrics is None else metrics.total(TABLE_LOG_BYTES.name, table=path),
        state=None if metrics is None else metrics.total(TABLE_STATE_BYTES.name, table=path),
        remote=float(copied[0].get("remote_bytes", 0)) if copied else None,
    )
