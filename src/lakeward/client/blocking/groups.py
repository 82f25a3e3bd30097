"""ConsumerGroups: how far each group of readers got, kept in a table of the cluster itself.

    groups = ConsumerGroups(conn)
    groups.commit("billing", "shop.orders", {BucketId(None, 0): 1_200})
    groups.committed("billing", "shop.orders")

The table `lakeward.consumer_offsets` is an ordinary primary key table, made with the first commit, so that groups work
on Apache Fluss as well. An offset is that of the next row to read. A table that was dropped and created again begins
anew: the id of the table is kept with each offset.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lakeward.client.admin.admin import path_of
from lakeward.client.forms.results import BucketId, Timestamp
from lakeward.errors import ErrorCode, NotFoundError
from lakeward.model.table import TablePath
from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table

OFFSETS_TABLE = "lakeward.consumer_offsets"
_COLUMNS = (
    "group_id STRING, table_name STRING, partition_name STRING, bucket INT, "
    "table_id BIGINT, next_offset BIGINT, committed_at TIMESTAMP_LTZ(3)"
)
_KEY = ("group_id", "table_name", "partition_name", "bucket")


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """A group: the tables it reads, and when it last committed."""

    name: str
    tables: tuple[str, ...]
    buckets: int
    committed_at: datetime


@dataclass(frozen=True, slots=True)
class GroupBucket:
    """How far a group is in one bucket. Without a commit `next_offset` is None, and all rows are ahead of it.

    `latest` and `lag` are None where the bucket is gone: its table or partition was dropped.
    """

    table: str
    bucket: BucketId
    next_offset: int | None
    earliest: int | None
    latest: int | None
    committed_at: datetime | None

    @property
    def lag(self) -> int | None:
        """Rows the group has not read yet, of those that are still there."""
        if self.latest is None or self.earliest is None:
            return None
        return max(0, self.latest - max(self.next_offset or 0, self.earliest))


class ConsumerGroups:
    """The groups of a cluster."""

    def __init__(self, conn: Connection, clock: Clock | None = None) -> None:
        self._conn = conn
        self._clock = clock or SystemClock()
        self._offsets: Table | None = None

    def groups(self) -> list[ConsumerGroup]:
        """All groups, sorted by name."""
        table = self._find_table()
        rows = [] if table is None else table.snapshot().to_pylist()
        of_group: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            of_group[row["group_id"]].append(row)
        return [
            ConsumerGroup(
                name,
                tuple(sorted({r["table_name"] for r in mine})),
                len(mine),
                max(r["committed_at"] for r in mine),
            )
            for name, mine in sorted(of_group.items())
        ]

    def commit(self, group: str, path: str | TablePath, offsets: Mapping[BucketId, int]) -> None:
        """Keep the offset of the next row to read, bucket by bucket; other buckets keep theirs."""
        if offsets:
            self._write(group, self._conn.table(str(path)), offsets)

    def committed(self, group: str, path: str | TablePath) -> dict[BucketId, int]:
        """What a group has committed of a table; buckets without a commit are left out."""
        rows = self._rows(group, path)
        if not rows:
            return {}
        table_id = self._conn.table(str(path)).info.table_id
        return {_bucket(row): row["next_offset"] for row in rows if row["table_id"] == table_id}

    def describe(self, group: str) -> list[GroupBucket]:
        """Every bucket of every table the group reads, with its lag; sorted."""
        rows = self._rows(group)
        if not rows:
            raise self._no_group(group)
        described: list[GroupBucket] = []
        for name in sorted({row["table_name"] for row in rows}):
            described += self._describe_table(name, [row for row in rows if row["table_name"] == name])
        return described

    def reset(
        self,
        group: str,
        path: str | TablePath,
        to: str | int | datetime | Timestamp,
        *,
        partitions: Iterable[str] | None = None,
        buckets: Iterable[int] | None = None,
    ) -> dict[BucketId, int]:
        """Move a group in a table to `"earliest"`, `"latest"`, a time or an offset, in all buckets or those named.

        An offset outside a bucket's log is moved to its nearer end. Readers take it over when they start again.
        """
        table = self._conn.table(str(path))
        places = self.places(path, to, partitions=partitions, buckets=buckets)
        self._write(group, table, places)
        return places

    def places(
        self,
        path: str | TablePath,
        to: str | int | datetime | Timestamp,
        *,
        partitions: Iterable[str] | None = None,
        buckets: Iterable[int] | None = None,
    ) -> dict[BucketId, int]:
        """Where `reset` would move a group; nothing is changed."""
        table = self._conn.table(str(path))
        chosen = None if partitions is None else list(partitions)
        numbers = None if buckets is None else set(buckets)
        if isinstance(to, int):
            first, last = table.offsets("earliest", partitions=chosen), table.offsets("latest", partitions=chosen)
            places = {b: max(first.get(b, 0), min(to, end)) for b, end in last.items()}
        else:
            places = table.offsets(to, partitions=chosen)
        places = {b: offset for b, offset in places.items() if numbers is None or b.bucket in numbers}
        if not places:
            raise ErrorCode.INVALID_CONFIG.error(f"{table.path} has no such bucket; nothing was reset.")
        return dict(sorted(places.items(), key=lambda item: _order(item[0])))

    def delete(self, group: str, path: str | TablePath | None = None) -> int:
        """Forget a group, or what it committed of one table; how many buckets that were."""
        rows = self._rows(group, path)
        if not rows:
            raise self._no_group(group, path)
        table = self._find_table()
        assert table is not None
        table.delete([{name: row[name] for name in _KEY} for row in rows])
        return len(rows)

    # -- the table of offsets -----------------------------------------------------------------------------------------

    def _write(self, group: str, table: Table, offsets: Mapping[BucketId, int]) -> None:
        if not group.strip():
            raise ErrorCode.INVALID_CONFIG.error("A consumer group needs a name; the one given is empty.")
        now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
        rows = [
            {
                "group_id": group,
                "table_name": str(table.path),
                "partition_name": bucket.partition or "",
                "bucket": bucket.bucket,
                "table_id": table.info.table_id,
                "next_offset": offset,
                "committed_at": now,
            }
            for bucket, offset in offsets.items()
        ]
        self._make_table().upsert(rows)

    def _find_table(self) -> Table | None:
        if self._offsets is None:
            try:
                self._offsets = self._conn.table(OFFSETS_TABLE)
            except NotFoundError:
                return None
        return self._offsets

    def _make_table(self) -> Table:
        table = self._find_table()
        if table is None:
            self._conn.create_database(TablePath.parse(OFFSETS_TABLE).database, exist_ok=True)
            table = self._offsets = self._conn.create_table(
                OFFSETS_TABLE,
                _COLUMNS,
                primary_key=_KEY,
                bucket_by=["group_id"],
                buckets=1,
                comment="How far each consumer group got.",
                exist_ok=True,
            )
        return table

    def _rows(self, group: str, path: str | TablePath | None = None) -> list[dict[str, Any]]:
        table = self._find_table()
        found: list[dict[str, Any]] = [] if table is None else table.lookup_prefix(group).to_pylist()
        name = None if path is None else str(path_of(path))
        return [row for row in found if name in {None, row["table_name"]}]

    def _describe_table(self, name: str, rows: list[dict[str, Any]]) -> list[GroupBucket]:
        earliest: dict[BucketId, int] = {}
        latest: dict[BucketId, int] = {}
        table_id = -1
        try:
            table = self._conn.table(name)
            table_id = table.info.table_id
            earliest, latest = table.offsets("earliest"), table.offsets("latest")
        except NotFoundError:
            pass  # dropped: what the group committed is shown without a lag
        committed = {_bucket(row): row for row in rows if table_id in {-1, row["table_id"]}}
        return [
            GroupBucket(
                name,
                bucket,
                row["next_offset"] if row else None,
                earliest.get(bucket),
                latest.get(bucket),
                row["committed_at"] if row else None,
            )
            for bucket in sorted({*committed, *latest}, key=_order)
            for row in [committed.get(bucket)]
        ]

    def _no_group(self, group: str, path: str | TablePath | None = None) -> Exception:
        of = "" if path is None else f" of {path_of(path)}"
        known = ", ".join(g.name for g in self.groups()) or "none yet"
        return ErrorCode.INVALID_CONFIG.error(f"Group '{group}' has committed nothing{of}; groups that have: {known}.")


def _bucket(row: Mapping[str, Any]) -> BucketId:
    return BucketId(row["partition_name"] or None, row["bucket"])


def _order(bucket: BucketId) -> tuple[str, int]:
    return bucket.partition or "", bucket.bucket
