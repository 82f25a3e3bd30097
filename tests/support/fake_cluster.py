"""A cluster without servers: requests are kept, and the test answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from lakeward.client.cluster.metadata_cache import Address
from lakeward.client.forms.settings import ClientSettings
from lakeward.client.remote.sources import RemoteSegments
from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.model.type_text import parse_columns
from lakeward.protocol.api import Api
from lakeward.runtime.backoff import Backoff

PATH = TablePath("db", "t")


def table_info(
    columns: str = "id BIGINT, name STRING",
    *,
    partition_by: tuple[str, ...] = (),
    bucket_by: tuple[str, ...] = (),
    buckets: int = 1,
    schema_id: int = 1,
    **properties: str,
) -> TableInfo:
    """A table that exists, with id 7."""
    parsed, key = parse_columns(columns)
    descriptor = TableDescriptor(
        schema=Schema.of(parsed, key),
        partition_keys=partition_by,
        bucket_keys=bucket_by,
        bucket_count=buckets,
        properties={k.replace("__", "-").replace("_", "."): v for k, v in properties.items()},
    )
    return TableInfo(PATH, 7, schema_id, descriptor.normalize(), 0, 0)


@dataclass
class Asked:
    """A request and the future of its answer."""

    api: Api
    message: Any
    answer: asyncio.Future[Any]


class FakeChannel:
    """Keeps requests until the test answers them."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.closed = False

    def post(self, api: Api, message: Any, *, timeout_ms: float = 0) -> asyncio.Future[Any]:
        """Keep a request."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.asked.append(Asked(api, message, future))
        return future

    async def request(self, api: Api, message: Any, *, timeout_ms: float = 0) -> Any:
        """Keep a request and wait for its answer."""
        return await self.post(api, message, timeout_ms=timeout_ms)

    async def next(self) -> Asked:
        """The oldest request not taken yet; waits for one."""
        while not self.asked:  # noqa: ASYNC110 - a turn of the loop is all it takes
            await asyncio.sleep(0)
        return self.asked.pop(0)


class FakeMetadata:
    """Every bucket is led by the one server."""

    def __init__(self) -> None:
        self.forgotten: list[TableBucket] = []
        self.refreshed = 0
        #: Partitions that the server knows, by name.
        self.partitions: dict[str, int] = {}
        #: Whether leaders have to be asked for, and the partitions that were asked about.
        self.unknown = False
        self.asked: list[list[str]] = []

    def attended_s(self) -> float:
        """The clock; nobody is ever away."""
        return asyncio.get_running_loop().time()

    def leader(self, bucket: TableBucket) -> Address | None:
        """Where the leader is."""
        return None if self.unknown else Address("there", 9123)

    def forget(self, bucket: TableBucket) -> None:
        """Noted."""
        self.forgotten.append(bucket)

    def partition_id(self, _: int, name: str) -> int | None:
        """What the server knows."""
        return self.partitions.get(name)

    async def refresh(self, path: object, partitions: Iterable[str] = ()) -> None:
        """Nothing is new."""
        self.asked.append(list(partitions))
        for name in self.asked[-1]:
            if name not in self.partitions:
                raise ErrorCode.PARTITION_NOT_EXISTS.error(f"{path} has no partition '{name}'.")

    async def wait_for_leaders(self, *_: Any) -> None:
        """All known."""
        self.refreshed += 1


class FakePool:
    """One channel for everything."""

    def __init__(self, channel: FakeChannel) -> None:
        self._channel = channel

    async def channel(self, *_: Any) -> FakeChannel:
        """The channel."""
        return self._channel


class FakeCluster:
    """What writers and scans need of a cluster."""

    def __init__(self, **settings: Any) -> None:
        self.settings = ClientSettings(**settings)
        self.backoff = self.store_backoff = Backoff(0, 0)
        self.channel = FakeChannel()
        self.metadata = FakeMetadata()
        self.pool = FakePool(self.channel)
        self.workers = ThreadPoolExecutor(1)
        self.answers: dict[Api, Any] = {}
        self.remote = RemoteSegments(self.settings, self.workers, self._token)
        #: Whether channels are open; else every one has to be opened first.
        self.is_open = False

    async def _token(self) -> Any:
        return self.answers[Api.GET_FILESYSTEM_SECURITY_TOKEN]

    async def leader(self, *_: Any) -> FakeChannel:
        """The channel."""
        return self.channel

    def leader_at_hand(self, *_: Any) -> FakeChannel | None:
        """The channel, if it is open."""
        return self.channel if self.is_open else None

    async def ask(self, api: Api, message: Any) -> Any:
        """What the test has put into `answers`."""
        return self.answers[api]
