"""A glance at tables: what they look like, and where their logs end, all of it asked at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from lakeward.client.admin.offsets import Place
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.forms.results import BucketId
from lakeward.client.read.log_marks import LogEnd, log_ends
from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo, TablePath

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known:
    """A table without partitions as it was, and at which offsets of its logs batches are asked for."""

    info: TableInfo
    offsets: Mapping[BucketId, int]


@dataclass(frozen=True, slots=True)
class Glance(Generic[T]):
    """A table, None where one question was not enough; of its logs what was told, if what was known was asked for."""

    table: T | None
    ends: Mapping[BucketId, LogEnd] = field(default_factory=dict)


async def glance(
    cluster: Cluster, table: Callable[[TablePath], Awaitable[T]], asked: Sequence[tuple[TablePath, Known | None]]
) -> list[Glance[T]]:
    """Look at tables, of some of which something is known."""
    known = [one for _, one in asked if one is not None]
    tables, told = await asyncio.gather(
        asyncio.gather(*(table(path) for path, _ in asked), return_exceptions=True),
        log_ends(cluster, [(one.info, _places(one)) for one in known]),
    )
    ends = iter({place.id: end for place, end in one.items()} for one in told)
    return [
        Glance(found, next(ends) if one is not None else {})
        for found, (_, one) in zip(_there(tables), asked, strict=True)
    ]


def _there(tables: Iterable[T | BaseException]) -> Iterable[T | None]:
    for one in tables:
        if isinstance(one, LakewardError):
            yield None
        elif isinstance(one, BaseException):
            raise one
        else:
            yield one


def _places(known: Known) -> dict[Place, int]:
    return {Place(TableBucket(known.info.table_id, None, id_.bucket), id_): at for id_, at in known.offsets.items()}
