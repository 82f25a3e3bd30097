"""Where each bucket's log begins and ends, and what offset a time stands for."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.metadata_cache import Address
from lakeward.client.cluster.patience import Patience, ask_leader, patient_leader, patiently
from lakeward.client.forms.results import BucketId, PartitionInfo, Timestamp
from lakeward.errors import CorruptError, ErrorCode, LakewardError, NotFoundError, RetriableError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import ListOffsetsRequest, ListOffsetsResponse
from lakeward.protocol.messages.table import GetTableStatsRequest, GetTableStatsResponse, PbTableStatsReqForBucket
from lakeward.rpc.channel import Channel

_EARLIEST, _LATEST, _AT_TIME = 0, 1, 2
_CLIENT = -1
_ASKED_BY_NAME_MAX = 16
_LEADERS_AT_ONCE = 250
#: Questions about partitions under way; each costs a task.
_IN_FLIGHT_MAX = 64
#: How often a log that is being written to is looked at for a moment in which nothing came.
_LOOKS = 10

#: A partition: by name, by its values, or as it was listed, which asks nobody again.
Named = str | Mapping[str, str] | PartitionInfo


class Place(NamedTuple):
    """A bucket as the protocol names it, and as people do."""

    bucket: TableBucket
    id: BucketId


class _Part(NamedTuple):
    """Buckets of one partition, or of a table without: what one request can ask about."""

    id: int | None
    name: str | None
    numbers: Sequence[int]


class TableOffsets:
    """Questions about the logs of one table."""

    def __init__(self, cluster: Cluster, info: TableInfo, partitions: Partitions) -> None:
        self._cluster = cluster
        self._info = info
        self._partitions = partitions

    async def places(
        self, partitions: Sequence[Named] | None = None, buckets: Iterable[int] | None = None
    ) -> list[Place]:
        """Every bucket of the table, or of the partitions and bucket numbers that are named."""
        parts = await self._parts(partitions, self._bucket_numbers(buckets))
        return [Place(self._bucket(part, n), BucketId(part.name, n)) for part in parts for n in part.numbers]

    async def _parts(self, partitions: Sequence[Named] | None, numbers: Sequence[int]) -> list[_Part]:
        if not self._info.descriptor.is_partitioned:
            if partitions is not None:
                raise ErrorCode.TABLE_NOT_PARTITIONED.error(f"{self._info.path} is not partitioned.")
            return [_Part(None, None, numbers)]
        if partitions is None:
            found = {p.name: p.id for p in await patiently(self._cluster, self._partitions.all)}
        else:
            found = await self._ids_by_name(partitions)
        return [_Part(id_, name, numbers) for name, id_ in found.items()]

    async def _ids_by_name(self, partitions: Sequence[Named]) -> dict[str, int]:
        """The ids of partitions by name. A few are asked for one by one: there may be thousands of others."""
        known = {p.name: p.id for p in partitions if isinstance(p, PartitionInfo)}
        wanted = [_name(p, self._partitions) for p in partitions]
        unknown = [name for name in wanted if name not in known]
        if 0 < len(unknown) <= _ASKED_BY_NAME_MAX:
            known |= await self._partitions.ids(unknown)
        if any(name not in known for name in wanted):  # the list knows a new partition before all servers do
            known |= {p.name: p.id for p in await patiently(self._cluster, self._partitions.all)}
        missing = [name for name in wanted if name not in known]
        if missing:
            raise ErrorCode.PARTITION_NOT_EXISTS.error(f"{self._info.path} has no partition '{missing[0]}'.")
        return {name: known[name] for name in wanted}

    def _bucket_numbers(self, buckets: Iterable[int] | None) -> list[int]:
        count = self._info.bucket_count
        if buckets is None:
            return list(range(count))
        wanted = sorted(set(buckets))
        if wanted and not 0 <= wanted[0] <= wanted[-1] < count:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(
                f"{self._info.path} has the buckets 0 to {count - 1}; asked for {wanted}."
            )
        return wanted

    async def of_all(self, at: Any) -> dict[Place, int]:
        """The offset of every bucket at a position."""
        return await self.of(await self.places(), at)

    async def of(self, places: Sequence[Place], at: Any) -> dict[Place, int]:
        """The offset of these buckets at "earliest", "latest", a datetime or a Timestamp."""
        groups: dict[int | None, list[Place]] = defaultdict(list)
        for place in places:
            groups[place.bucket.partition_id].append(place)
        parts = [_Part(id_, g[0].id.partition, [p.bucket.bucket for p in g]) for id_, g in groups.items()]
        answers = zip(groups.values(), await self._ask_parts(parts, at), strict=True)
        found = {place: offset for group, offsets in answers for place, offset in zip(group, offsets, strict=True)}
        return {place: found[place] for place in places}

    async def by_id(self, at: Any, partitions: Sequence[Named] | None = None) -> dict[BucketId, int]:
        """The same of every bucket, or of those of some partitions, by the names that people have for them.

        There may be hundreds of thousands: for each one it keeps nothing but what it hands out.
        """
        parts = await self._parts(partitions, self._bucket_numbers(None))
        answers = zip(parts, await self._ask_parts(parts, at), strict=True)
        return {
            BucketId(part.name, number): offset
            for part, offsets in answers
            for number, offset in zip(part.numbers, offsets, strict=True)
        }

    async def _ask_parts(self, parts: Sequence[_Part], position: Any) -> list[list[int]]:
        offset_type, time_ms = _question(position)
        await self._find_leaders(parts)
        left, found = iter(enumerate(parts)), [list[int]()] * len(parts)

        async def ask_on() -> None:
            for at, part in left:
                found[at] = await self._ask_part(part, offset_type, time_ms)

        await asyncio.gather(*(ask_on() for _ in range(min(len(parts), _IN_FLIGHT_MAX))))
        return found

    async def _find_leaders(self, parts: Sequence[_Part]) -> None:
        """Learn the leaders of many partitions at once; what is not learned here is asked for one by one."""
        leader = self._cluster.metadata.leader
        firsts = [(p.name, self._bucket(p, p.numbers[0])) for p in parts if p.name is not None and p.numbers]
        names = [name for name, bucket in firsts if leader(bucket) is None]
        for first in range(0, len(names) if len(names) > 1 else 0, _LEADERS_AT_ONCE):
            try:
                await self._cluster.metadata.refresh(self._info.path, names[first : first + _LEADERS_AT_ONCE])
            except (NotFoundError, RetriableError):
                return  # one of them is gone, or nobody answers now

    async def _ask_part(self, part: _Part, offset_type: int, time_ms: int | None) -> list[int]:
        """The offsets of the buckets of one partition, in their order."""
        found: dict[int, int] = {}
        patience = Patience(self._cluster)
        while True:
            left = [number for number in part.numbers if number not in found]
            asked: Sequence[int] = left
            try:
                for channel, asked in (await self._by_leader(part, left)).items():
                    found |= await self._ask_leader(channel, part, asked, offset_type, time_ms)
            except LakewardError as wrong:  # of whoever leads `asked`, or while leaders were looked for
                if not all(patience.allows(wrong, self._bucket(part, number)) for number in asked):
                    raise
            if all(number in found for number in left):
                return [found[number] for number in part.numbers]
            await patience.rest()

    async def _ask_leader(
        self, channel: Channel, part: _Part, numbers: Sequence[int], offset_type: int, time_ms: int | None
    ) -> dict[int, int]:
        ask = ListOffsetsRequest(
            follower_server_id=_CLIENT,
            offset_type=offset_type,
            table_id=self._info.table_id,
            partition_id=part.id,
            bucket_id=tuple(numbers),
            start_timestamp=time_ms,
        )
        answer: ListOffsetsResponse = await channel.request(Api.LIST_OFFSETS, ask)
        found = {}
        for reply in answer.buckets_resp:
            if reply.error_code:
                bucket = BucketId(part.name, reply.bucket_id)
                raise ErrorCode.of_wire(reply.error_code).error(
                    f"Offsets of {self._info.path}, bucket {bucket}: {reply.error_message}"
                )
            found[reply.bucket_id] = reply.offset or 0
        for number in numbers:
            if number not in found:
                bucket = BucketId(part.name, number)
                raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Offsets of {self._info.path}, bucket {bucket}: none.")
        return found

    def _bucket(self, part: _Part, number: int) -> TableBucket:
        return TableBucket(self._info.table_id, part.id, number)

    async def _by_leader(self, part: _Part, numbers: Iterable[int]) -> dict[Channel, list[int]]:
        """Which leader has which buckets; one whose leader is not known is waited for."""
        known: dict[Address | int, list[int]] = defaultdict(list)
        for number in numbers:
            known[self._cluster.metadata.leader(self._bucket(part, number)) or number].append(number)
        found: dict[Channel, list[int]] = defaultdict(list)
        for shared in known.values():
            found[await self._cluster.leader(self._info.path, self._bucket(part, shared[0]), part.name)] += shared
        return found

    async def _leader_of(self, place: Place) -> Channel:
        return await patient_leader(self._cluster, self._info.path, place.bucket, place.id.partition)

    async def count(self) -> int:
        """Rows in the table: from its statistics, or from its offsets where the server keeps none."""
        places = await self.places()
        if not places:
            return 0
        if (await self._leader_of(places[0])).supports(Api.GET_TABLE_STATS):
            return sum(await asyncio.gather(*(self._row_count(p) for p in places)))
        if self._info.descriptor.has_primary_key:
            raise ErrorCode.UNSUPPORTED_VERSION.error(
                f"{self._info.path} has a primary key, and this server keeps no row counts."
            )
        first, last = await asyncio.gather(self.of(places, "earliest"), self.of(places, "latest"))
        return sum(last[p] - first[p] for p in places)

    async def are_rows(self, bucket: BucketId) -> bool:
        """Whether every offset of a log table's bucket is a row: nothing in it is damaged or was given up."""
        (place,) = await self.places(None if bucket.partition is None else [bucket.partition], [bucket.bucket])
        if not (await self._leader_of(place)).supports(Api.GET_TABLE_STATS):
            return True
        for _ in range(_LOOKS):
            before = await self._ends(place)
            try:
                rows = await self._row_count(place)
            except CorruptError:
                return False
            if before == await self._ends(place):  # else rows came or went meanwhile, and the two say nothing
                return rows == before[1] - before[0]
        return False

    async def _ends(self, place: Place) -> tuple[int, int]:
        first, last = await asyncio.gather(self.of([place], "earliest"), self.of([place], "latest"))
        return first[place], last[place]

    async def _row_count(self, place: Place) -> int:
        one = PbTableStatsReqForBucket(partition_id=place.bucket.partition_id, bucket_id=place.bucket.bucket)
        ask = GetTableStatsRequest(table_id=self._info.table_id, buckets_req=(one,))

        async def count(channel: Channel) -> int:
            answer: GetTableStatsResponse = await channel.request(Api.GET_TABLE_STATS, ask)
            (reply,) = answer.buckets_resp
            if reply.error_code:
                raise ErrorCode.of_wire(reply.error_code).error(
                    f"Row count of {self._info.path}, bucket {place.id}: {reply.error_message}"
                )
            return reply.row_count or 0

        return await ask_leader(self._cluster, self._info.path, place.bucket, place.id.partition, count)


def _name(partition: Named, partitions: Partitions) -> str:
    match partition:
        case str():
            return partition
        case PartitionInfo():
            return partition.name
        case _:
            return partitions.name_of(partition)


def _question(at: Any) -> tuple[int, int | None]:
    match at:
        case "earliest":
            return _EARLIEST, None
        case "latest":
            return _LATEST, None
        case datetime():
            return _AT_TIME, epoch_ms(at)
        case Timestamp():
            return _AT_TIME, at.epoch_ms
        case _:
            raise ErrorCode.INVALID_TIMESTAMP.error(
                f"{at!r} is no position in a log; give 'earliest', 'latest', a datetime or a Timestamp."
            )


def epoch_ms(moment: datetime) -> int:
    """Milliseconds since 1970; a datetime without a zone is local time, as everywhere in Python."""
    return int(moment.timestamp() * 1000)
