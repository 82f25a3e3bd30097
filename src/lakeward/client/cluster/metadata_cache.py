"""Who leads which bucket: learned from the cluster, kept until a server says otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lakeward.client.cluster.absence import Absence
from lakeward.client.cluster.shared_questions import SharedQuestions
from lakeward.client.forms.results import ServerInfo
from lakeward.errors import ErrorCode, LakewardError, NotFoundError, RetriableError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    PbBucketMetadata,
    PbPhysicalTablePath,
)
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.rpc.pool import ChannelPool

_POLL_MS = 50
_LEADER_WAIT_MS = 30_000
#: A server that said nothing is asked after all others for so long.
_SHUNNED_S = 30.0


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class MetadataCache:
    """The servers of the cluster and the leaders of the buckets in use."""

    def __init__(
        self,
        pool: ChannelPool,
        bootstrap: Sequence[Address],
        request_timeout_ms: float,
        away_ms: float = 0,
        silence_ms: float = 3000,
    ) -> None:
        """A server that says nothing for `silence_ms` may be dead: others are asked meanwhile."""
        self._pool = pool
        self._silence_s = silence_ms / 1000
        self._shunned_until_s: dict[Address, float] = {}
        self._absence = Absence(away_ms)
        self._bootstrap = bootstrap
        self._timeout_ms = request_timeout_ms
        self._tablets: dict[int, Address] = {}
        self._leaders: dict[TableBucket, int] = {}
        self._table_ids: dict[TablePath, int] = {}
        self._partition_ids: dict[tuple[int, str], int] = {}
        self._dropped_partitions: set[int] = set()
        self._questions = SharedQuestions(self._refresh)
        self.coordinator: Address | None = None
        self.servers: list[ServerInfo] = []

    def attended_s(self) -> float:
        """A clock that stands still while the servers are away."""
        return self._absence.attended_s()

    def leader(self, bucket: TableBucket) -> Address | None:
        """The server that leads a bucket, as far as is known."""
        return self._tablets.get(self._leaders.get(bucket, -1))

    def forget(self, bucket: TableBucket) -> None:
        """A server said that it does not lead this bucket."""
        self._leaders.pop(bucket, None)

    def partition_id(self, table_id: int, name: str) -> int | None:
        """The id of a partition, as far as is known."""
        return self._partition_ids.get((table_id, name))

    def forget_partition(self, table_id: int, name: str) -> None:
        """A partition is gone; its id is not believed again, since servers may go on naming it for a moment."""
        known = self._partition_ids.pop((table_id, name), None)
        if known is not None:
            self._dropped_partitions.add(known)

    async def wait_for_partition(
        self, path: TablePath, table_id: int, name: str, wait_ms: float = _LEADER_WAIT_MS
    ) -> None:
        """Wait until the servers know a partition that was just created."""
        clock = self.attended_s
        deadline = clock() + wait_ms / 1000
        while True:
            await self.refresh(path, [name])
            if self.partition_id(table_id, name) is not None:
                return
            if clock() > deadline:
                raise ErrorCode.PARTITION_NOT_EXISTS.error(
                    f"{path}: partition {name} was created anew, and for {wait_ms:g} ms no server has heard of it."
                )
            await asyncio.sleep(_POLL_MS / 1000)

    def any_tablet(self) -> Address | None:
        """Some tablet server, preferably one that is connected already and was not silent lately."""
        return next(iter(self._by_promise(self._tablets.values())), None)

    def _by_promise(self, addresses: Iterable[Address]) -> list[Address]:
        return sorted(addresses, key=lambda a: (self._is_shunned(a), self._pool.ready(a.host, a.port) is None))

    def _is_shunned(self, address: Address) -> bool:
        until_s = self._shunned_until_s.get(address)
        return until_s is not None and asyncio.get_running_loop().time() < until_s

    def shun(self, address: Address) -> None:
        """A server owes an answer: ask others first, for a while."""
        self._shunned_until_s[address] = asyncio.get_running_loop().time() + _SHUNNED_S

    def names(self, address: Address) -> bool:
        """Whether it is one of the servers that the cluster has, as far as is known."""
        return address == self.coordinator or address in self._tablets.values()

    async def refresh(self, path: TablePath | None = None, partitions: Iterable[str] = ()) -> None:
        """Ask the cluster for its servers and, given a table, for its buckets' leaders; waits while all are away."""
        await self._questions.ask(path, partitions)

    def close(self) -> None:
        """Ask no more."""
        self._questions.close()

    async def _refresh(self, path: TablePath | None, partitions: frozenset[str]) -> None:
        ask = MetadataRequest()
        if path is not None:
            ask = MetadataRequest(
                table_path=(PbTablePath(database_name=path.database, table_name=path.table),),
                partitions_path=tuple(
                    PbPhysicalTablePath(database_name=path.database, table_name=path.table, partition_name=name)
                    for name in sorted(partitions)
                ),
            )
        try:
            answer = await self._ask(ask)
        except NotFoundError as wrong:
            if path is not None and wrong.code is ErrorCode.PARTITION_NOT_EXISTS:
                self._doubt(path, set(partitions))
            raise
        self._learn(answer)

    def _doubt(self, path: TablePath, partitions: set[str]) -> None:
        """Somebody has dropped one of these: whoever needs them asks again, or creates them anew."""
        self._partition_ids = {
            (table_id, name): id_
            for (table_id, name), id_ in self._partition_ids.items()
            if name not in partitions or self._table_ids.get(path, table_id) != table_id
        }

    async def wait_for_leaders(
        self,
        path: TablePath,
        buckets: Sequence[TableBucket],
        partition: str | None = None,
        wait_ms: float = _LEADER_WAIT_MS,
    ) -> None:
        """Wait until these buckets of one table or partition have leaders; fresh ones get theirs after a moment."""
        clock = self.attended_s
        deadline = clock() + wait_ms / 1000
        while missing := [b for b in buckets if self.leader(b) is None]:
            try:
                await self.refresh(path, [partition] if partition else [])
            except RetriableError:
                if clock() > deadline:
                    raise
            if all(self.leader(b) for b in missing):
                return
            self._check_successor(path, missing[0].table_id)
            self._check_partition_successor(path, missing[0], partition)
            if clock() > deadline:
                raise ErrorCode.LEADER_NOT_AVAILABLE.error(
                    f"{path}: {missing[0]} has had no leader for {wait_ms:g} ms; are all tablet servers up? "
                    "If it is new, Apache Fluss 0.9 may have lost it at its creation: drop it and create it again."
                )
            await asyncio.sleep(_POLL_MS / 1000)

    def _check_successor(self, path: TablePath, table_id: int) -> None:
        """A bucket of a table that has a successor never gets a leader again; servers behind may name older ids."""
        if self._table_ids.get(path, table_id) > table_id:
            raise ErrorCode.TABLE_NOT_EXIST.error(
                f"{path} was dropped and created anew; open it again with connection.table()."
            )

    def _check_partition_successor(self, path: TablePath, bucket: TableBucket, partition: str | None) -> None:
        """The same of a partition: a newer one has its name now."""
        if partition is None or bucket.partition_id is None:
            return
        if self._partition_ids.get((bucket.table_id, partition), bucket.partition_id) > bucket.partition_id:
            raise ErrorCode.PARTITION_NOT_EXISTS.error(
                f"{path}: partition {partition} was dropped and created anew; ask again for what is in it now."
            )

    async def _ask(self, request: MetadataRequest) -> MetadataResponse:
        while True:
            try:
                answer = await self._ask_each(request)
            except RetriableError as wrong:  # who was never met may not be there at all
                if not self.servers or not await self._absence.bears(wrong):
                    raise
            else:
                self._absence.over()
                return answer

    async def _ask_each(self, request: MetadataRequest) -> MetadataResponse:
        wrong: LakewardError | None = None
        known = [*self._by_promise(self._tablets.values()), *self._bootstrap]
        *others, last = dict.fromkeys(sorted(known, key=self._is_shunned))
        for address in (*others, last):
            try:
                async with asyncio.timeout(None if address == last else self._silence_s):
                    channel = await self._pool.channel(address.host, address.port)
                    answer: MetadataResponse = await channel.request(
                        Api.GET_METADATA, request, timeout_ms=self._timeout_ms
                    )
            except RetriableError as error:  # the next server may know
                wrong = error
            except TimeoutError:
                self.shun(address)
                wrong = ErrorCode.NETWORK.error(f"{address} says nothing.")
            else:
                self._shunned_until_s.pop(address, None)
                return answer
        assert wrong is not None
        raise wrong

    def _learn(self, answer: MetadataResponse) -> None:
        boss = answer.coordinator_server
        self.coordinator = None if boss is None else Address(boss.host, boss.port)
        if answer.tablet_servers:
            self._tablets = {s.node_id: Address(s.host, s.port) for s in answer.tablet_servers}
        self.servers = [] if boss is None else [ServerInfo(boss.node_id, "coordinator", boss.host, boss.port)]
        self.servers += [ServerInfo(s.node_id, "tablet", s.host, s.port) for s in answer.tablet_servers]
        for table in answer.table_metadata:
            path = TablePath(table.table_path.database_name, table.table_path.table_name)
            self._table_ids[path] = table.table_id
            self._learn_leaders(table.table_id, None, table.bucket_metadata)
        for partition in answer.partition_metadata:
            if partition.partition_id in self._dropped_partitions:
                continue
            self._partition_ids[partition.table_id, partition.partition_name] = partition.partition_id
            self._learn_leaders(partition.table_id, partition.partition_id, partition.bucket_metadata)

    def _learn_leaders(self, table_id: int, partition_id: int | None, buckets: Iterable[PbBucketMetadata]) -> None:
        for b in buckets:
            bucket = TableBucket(table_id, partition_id, b.bucket_id)
            if b.leader_id is None:
                self._leaders.pop(bucket, None)
            else:
                self._leaders[bucket] = b.leader_id
