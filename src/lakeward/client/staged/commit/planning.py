"""Planning: parts → what goes to which bucket, in which order. Decides, asks nobody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lakeward.client.forms.results import BucketId
from lakeward.client.staged.parts.manifest import INLINE, StagedBatch
from lakeward.client.staged.parts.part import Part
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo


@dataclass(slots=True)
class Plan:
    """The batches of each bucket, the files they are in, and the bytes of those that are in none."""

    target_columns: tuple[int, ...]
    files: tuple[str, ...]
    data: bytes
    batches: dict[BucketId, list[StagedBatch]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows of all buckets."""
        return sum(b.rows for found in self.batches.values() for b in found)

    @property
    def size_bytes(self) -> int:
        """Bytes of all buckets."""
        return sum(b.size for found in self.batches.values() for b in found)


def plan_parts(parts: Sequence[Part], info: TableInfo, batch_id: int) -> Plan:
    """Batches of one bucket keep the order of the parts; those of no bucket go where least is, beginning anywhere."""
    _check(parts, info)
    files = tuple(dict.fromkeys(p.file for p in parts if p.file is not None))
    numbers = {file: i for i, file in enumerate(files)}
    plan = Plan(parts[0].target_columns if parts else (), files, b"".join(p.data for p in parts))
    loads: dict[str | None, list[int]] = {}
    inline_at = 0
    for part in parts:
        file, base = (INLINE, inline_at) if part.file is None else (numbers[part.file], 0)
        for entry in part.entries:
            load = loads.setdefault(entry.partition, [0] * info.bucket_count)
            bucket = _lightest(load, batch_id) if entry.bucket is None else entry.bucket
            load[bucket] += entry.size
            batch = StagedBatch(file, base + entry.position, entry.size, entry.rows)
            plan.batches.setdefault(BucketId(entry.partition, bucket), []).append(batch)
        inline_at += len(part.data)
    return plan


def _lightest(load: list[int], first: int) -> int:
    """The bucket with the fewest bytes; among equals the next one round from `first`."""
    count = len(load)
    return min(range(count), key=lambda bucket: (load[bucket], (bucket - first) % count))


def _check(parts: Iterable[Part], info: TableInfo) -> None:
    columns: tuple[int, ...] | None = None
    for part in parts:
        if part.table_id != info.table_id:
            raise ErrorCode.TABLE_NOT_EXIST.error(
                f"{part.table} was dropped and created anew after rows were staged for it; write them again."
            )
        if columns not in (None, part.target_columns):
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"The tasks of one batch have written different columns of {info.path}; they must name the same ones."
            )
        columns = part.target_columns
