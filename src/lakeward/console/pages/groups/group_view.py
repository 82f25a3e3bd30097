"""Consumer groups as the pages show them: who they are, how far behind, and where a reset would move one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeward.client.blocking.groups import ConsumerGroup, ConsumerGroups, GroupBucket
from lakeward.client.blocking.sync import Connection
from lakeward.client.forms.results import BucketId
from lakeward.errors import LakewardError

#: More are counted, and not shown.
GROUPS_MAX = 50
BUCKETS_MAX = 500


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group; `lag` is None where it cannot be told."""

    name: str
    tables: tuple[str, ...]
    buckets: int
    committed_ms: int
    lag: int | None


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups that are shown, and how many there are."""

    rows: Sequence[GroupRow]
    in_all: int


@dataclass(frozen=True, slots=True)
class BucketRow:
    """How far a group is in one bucket."""

    name: str
    committed: int | None
    earliest: int | None
    latest: int | None
    lag: int | None
    committed_ms: int | None


@dataclass(frozen=True, slots=True)
class GroupTable:
    """One table that a group reads."""

    table: str
    lag: int
    #: Its buckets are gone, with the table or its partition.
    is_gone: bool
    buckets: Sequence[BucketRow]
    buckets_in_all: int


@dataclass(frozen=True, slots=True)
class Move:
    """What a reset does to one bucket."""

    name: str
    now: int | None
    then: int
    #: Rows that are read again (below zero) or passed over.
    change: int | None


def read_groups(conn: Connection) -> Groups:
    """All groups up to a bound, with how far they are behind."""
    known = ConsumerGroups(conn)
    found = known.groups()
    return Groups([_group_row(known, one) for one in found[:GROUPS_MAX]], len(found))


def _group_row(known: ConsumerGroups, one: ConsumerGroup) -> GroupRow:
    try:
        lag = sum(bucket.lag or 0 for bucket in known.describe(one.name))
    except LakewardError:  # it went meanwhile, or its tables may not be looked at
        lag = None
    return GroupRow(one.name, one.tables, one.buckets, millis(one.committed_at), lag)


def tables_of(buckets: Sequence[GroupBucket]) -> list[GroupTable]:
    """The buckets of a group, table by table."""
    of_table: dict[str, list[GroupBucket]] = {}
    for bucket in buckets:
        of_table.setdefault(bucket.table, []).append(bucket)
    return [
        GroupTable(
            name,
            sum(one.lag or 0 for one in mine),
            all(one.latest is None for one in mine),
            [_bucket_row(one) for one in mine[:BUCKETS_MAX]],
            len(mine),
        )
        for name, mine in of_table.items()
    ]


def _bucket_row(one: GroupBucket) -> BucketRow:
    at = None if one.committed_at is None else millis(one.committed_at)
    return BucketRow(str(one.bucket), one.next_offset, one.earliest, one.latest, one.lag, at)


def moves_of(committed: Mapping[BucketId, int], places: Mapping[BucketId, int]) -> list[Move]:
    """What a reset would do, bucket by bucket."""
    return [
        Move(str(bucket), now, then, None if now is None else then - now)
        for bucket, then in places.items()
        for now in [committed.get(bucket)]
    ]


def millis(at: datetime) -> int:
    """A moment as milliseconds."""
    return int(at.timestamp() * 1000)
