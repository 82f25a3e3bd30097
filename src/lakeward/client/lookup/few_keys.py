"""A few keys of plain values, looked up without arrays: what compiled loops save on thousands, they cost on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import ask_leader
from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import LookupRequest, LookupResponse, PbLookupReqForBucket
from lakeward.rpc.channel import Channel

_KEYS_MAX = 4


class FewKeys:
    """Single lookups of one table."""

    def __init__(self, cluster: Cluster, info: TableInfo, keys: TableKeys) -> None:
        self._cluster = cluster
        self._info = info
        self._keys = keys

    def rows_of(self, keys: Any) -> Sequence[tuple[Any, ...]] | None:
        """The keys as tuples, if they are a few and of plain values; None where the long way must be taken."""
        if self._keys.partition or (type(keys) is list and len(keys) > _KEYS_MAX):
            return None
        return self._keys.forms.plain(keys)

    async def find(self, rows: Sequence[tuple[Any, ...]], bucketing: Bucketing) -> list[bytes | None]:
        """The values of the keys, None where there is none; INVALID_TARGET_COLUMN for values that do not fit."""
        found: list[bytes | None] = [None] * len(rows)
        for bucket, asked in self._by_bucket(rows, bucketing).items():
            for i, value in zip(asked, await self._ask(bucket, tuple(asked.values())), strict=True):
                found[i] = value
        return found

    def find_shortly(self, rows: Sequence[tuple[Any, ...]], bucketing: Bucketing) -> list[bytes | None] | None:
        """The same on this thread; None where it does not work this way: then `find` asks again, or says why."""
        found: list[bytes | None] = [None] * len(rows)
        try:
            for bucket, asked in self._by_bucket(rows, bucketing).items():
                place, keys = TableBucket(self._info.table_id, None, bucket), tuple(asked.values())
                with self._cluster.lines.take(self._cluster.metadata.leader(place)) as line:
                    if line is None:
                        return None
                    self._keys.check_version(line, Api.LOOKUP)
                    values = self._values(bucket, keys, line.ask(Api.LOOKUP, self._request(bucket, keys)))
                for i, value in zip(asked, values, strict=True):
                    found[i] = value
        except LakewardError:
            return None
        return found

    def _by_bucket(self, rows: Sequence[tuple[Any, ...]], bucketing: Bucketing) -> dict[int, dict[int, bytes]]:
        """Place and bytes of the keys of each bucket."""
        found: dict[int, dict[int, bytes]] = {}
        for i, row in enumerate(rows):
            key, bucket = self._keys.encode_one(row, bucketing)
            found.setdefault(bucket, {})[i] = key
        return found

    def _request(self, bucket: int, keys: tuple[bytes, ...]) -> LookupRequest:
        asked = PbLookupReqForBucket(bucket_id=bucket, keys=keys)
        return LookupRequest(table_id=self._info.table_id, buckets_req=(asked,))

    def _values(self, bucket: int, keys: tuple[bytes, ...], answer: LookupResponse) -> list[bytes | None]:
        reply = next((b for b in answer.buckets_resp if b.bucket_id == bucket), None)
        if reply is None:
            raise self._wrong(bucket, "No answer.")
        if reply.error_code:
            raise self._wrong(bucket, reply.error_message, ErrorCode.of_wire(reply.error_code))
        if len(reply.values) != len(keys):
            raise self._wrong(bucket, f"The server gave {len(reply.values)} values for {len(keys)} keys.")
        return [value.values for value in reply.values]

    async def _ask(self, bucket: int, keys: tuple[bytes, ...]) -> list[bytes | None]:
        request = self._request(bucket, keys)

        async def send(channel: Channel) -> list[bytes | None]:
            self._keys.check_version(channel, Api.LOOKUP)
            timeout_ms = self._cluster.settings.request_timeout_ms
            return self._values(bucket, keys, await channel.request(Api.LOOKUP, request, timeout_ms=timeout_ms))

        place = TableBucket(self._info.table_id, None, bucket)
        return await ask_leader(self._cluster, self._info.path, place, None, send)

    def _wrong(
        self, bucket: int, message: str | None, code: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR
    ) -> LakewardError:
        return code.error(f"{self._info.path}, bucket {bucket}: {message or code.sentence}")
