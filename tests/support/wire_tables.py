"""Tables made and used over the wire: the requests that most tests need, with their usual values."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

from wire_client import WireCluster

from lakeward.protocol.api import Api
from lakeward.protocol.messages.database import CreateDatabaseRequest
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    InitWriterRequest,
    ListOffsetsRequest,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
    PbProduceLogReqForBucket,
    PbProduceLogRespForBucket,
    ProduceLogRequest,
)
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.protocol.messages.partition import CreatePartitionRequest, PbPartitionSpec
from lakeward.protocol.messages.shared import PbKeyValue, PbTablePath
from lakeward.protocol.messages.table import CreateTableRequest, DropTableRequest

ID = ("id", "BIGINT")
EARLIEST, LATEST, AT_TIME = 0, 1, 2
#: As much as a client asks for.
_FETCH_BYTES = 16 << 20


def table_json(*columns: tuple[str, str], **parts: Any) -> bytes:
    """A table descriptor as clients send it; columns are (name, root of the type)."""
    schema = {
        "version": 1,
        "columns": [
            {"name": name, "data_type": {"type": root}, "id": number} for number, (name, root) in enumerate(columns)
        ],
        "highest_field_id": len(columns) - 1,
    }
    descriptor = {
        "version": 1,
        "schema": schema,
        "partition_key": [],
        "bucket_key": [],
        "bucket_count": 1,
        "properties": {},
        "custom_properties": {},
    }
    return json.dumps(descriptor | parts).encode()


def create_database(cluster: WireCluster, name: str) -> None:
    """A database, if it is not there."""
    cluster.coordinator.call(Api.CREATE_DATABASE, CreateDatabaseRequest(database_name=name, ignore_if_exists=True))


@dataclass
class WireTable:
    """A table and the connection to its buckets."""

    cluster: WireCluster
    path: PbTablePath
    table_id: int
    partitions: dict[str, int] = field(default_factory=dict)

    @classmethod
    def create(
        cls, cluster: WireCluster, database: str, name: str, *columns: tuple[str, str], **parts: Any
    ) -> WireTable:
        """Create it and wait until its buckets have leaders."""
        path = PbTablePath(database_name=database, table_name=name)
        request = CreateTableRequest(
            table_path=path, table_json=table_json(*(columns or (ID,)), **parts), ignore_if_exists=False
        )
        cluster.coordinator.call(Api.CREATE_TABLE, request)
        return cls.find(cluster, path)

    @classmethod
    def find(cls, cluster: WireCluster, path: PbTablePath) -> WireTable:
        """A table that exists."""
        (table,) = cluster.tablet.call(Api.GET_METADATA, MetadataRequest(table_path=(path,))).table_metadata
        found = cls(cluster, path, table.table_id)
        buckets = tuple(bucket.bucket_id for bucket in table.bucket_metadata)
        question = ListOffsetsRequest(
            follower_server_id=-1, offset_type=LATEST, table_id=table.table_id, bucket_id=buckets
        )
        while any(b.error_code for b in cluster.tablet.call(Api.LIST_OFFSETS, question).buckets_resp):
            time.sleep(0.05)  # a cluster of several processes hands out its buckets a moment later
        return found

    def drop(self) -> None:
        """Drop it."""
        self.cluster.coordinator.call(
            Api.DROP_TABLE, DropTableRequest(table_path=self.path, ignore_if_not_exists=False)
        )

    def create_partition(self, **values: str) -> None:
        """Add a partition."""
        pairs = tuple(PbKeyValue(key=key, value=value) for key, value in values.items())
        spec = PbPartitionSpec(partition_key_values=pairs)
        request = CreatePartitionRequest(table_path=self.path, partition_spec=spec, ignore_if_not_exists=False)
        self.cluster.coordinator.call(Api.CREATE_PARTITION, request)

    def new_writer(self) -> int:
        """The id of a new idempotent writer."""
        request = InitWriterRequest(table_path=(self.path,))
        return self.cluster.tablet.call(Api.INIT_WRITER, request).writer_id

    # -- append

    def produce_request(
        self, *payloads: bytes | bytearray, bucket: int = 0, partition: int | None = None, acks: int = -1, **more: int
    ) -> ProduceLogRequest:
        """An append of one payload to a bucket, or of several to the buckets that follow it."""
        buckets = tuple(
            PbProduceLogReqForBucket(partition_id=partition, bucket_id=bucket + number, records=bytes(payload))
            for number, payload in enumerate(payloads)
        )
        numbers = {"timeout_ms": 30_000, "table_id": self.table_id} | more
        return ProduceLogRequest(acks=acks, buckets_req=buckets, **numbers)

    def produce(self, payload: bytes | bytearray, **how: Any) -> PbProduceLogRespForBucket:
        """Append and return the answer of the bucket, which may be an error."""
        (answer,) = self.cluster.tablet.call(Api.PRODUCE_LOG, self.produce_request(payload, **how)).buckets_resp
        return answer

    def append(self, payload: bytes | bytearray, **how: Any) -> int:
        """Append and return the base offset."""
        answer = self.produce(payload, **how)
        assert not answer.error_code, answer
        return answer.base_offset

    # -- fetch

    def fetch_request(
        self,
        *offsets: int,
        bucket: int = 0,
        partition: int | None = None,
        columns: tuple[int, ...] | None = None,
        bucket_bytes: int = _FETCH_BYTES,
        **more: Any,
    ) -> FetchLogRequest:
        """A fetch from an offset of a bucket, or from several of the buckets that follow it."""
        buckets = tuple(
            PbFetchLogReqForBucket(
                partition_id=partition, bucket_id=bucket + number, fetch_offset=offset, max_fetch_bytes=bucket_bytes
            )
            for number, offset in enumerate(offsets)
        )
        table = PbFetchLogReqForTable(
            table_id=self.table_id,
            projection_pushdown_enabled=columns is not None,
            projected_fields=columns or (),
            buckets_req=buckets,
            filter_predicate=more.pop("filter_predicate", None),
            filter_schema_id=more.pop("filter_schema_id", None),
        )
        return FetchLogRequest(**({"follower_server_id": -1, "max_bytes": _FETCH_BYTES, "tables_req": (table,)} | more))

    def fetch(self, offset: int = -2, **how: Any) -> PbFetchLogRespForBucket:
        """What a fetch of one bucket is answered with."""
        return only_bucket(self.cluster.tablet.call(Api.FETCH_LOG, self.fetch_request(offset, **how)))

    def offset(self, kind: int, *, bucket: int = 0, time_ms: int | None = None, partition: int | None = None) -> int:
        """The earliest or latest offset, or the one at a time."""
        request = ListOffsetsRequest(
            follower_server_id=-1,
            offset_type=kind,
            table_id=self.table_id,
            partition_id=partition,
            bucket_id=(bucket,),
            start_timestamp=time_ms,
        )
        (answer,) = self.cluster.tablet.call(Api.LIST_OFFSETS, request).buckets_resp
        assert not answer.error_code, answer
        return answer.offset


def only_bucket(response: FetchLogResponse) -> PbFetchLogRespForBucket:
    """The answer of a fetch that named one bucket."""
    (table,) = response.tables_resp
    (bucket,) = table.buckets_resp
    return bucket
