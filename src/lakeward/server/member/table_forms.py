"""Tables and partitions as a coordinator's messages have them → as the catalog has them."""

from __future__ import annotations

from lakeward.model import json_form
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo, TablePath
from lakeward.protocol.messages.metadata import PbBucketMetadata, PbTableMetadata
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.snapshot import PbTableBucket
from lakeward.protocol.messages.table import GetTableInfoResponse
from lakeward.server.whereabouts.cluster_map import Lead

#: What stands for a table or partition that is gone, in place of its id or of its name.
GONE_ID = -2
GONE_PATH = TablePath("__UNKNOWN__", "__delete__")
GONE_NAME = "__delete__"
_NO_EPOCH = -1


def path_of(path: PbTablePath) -> TablePath:
    """A table's name."""
    return TablePath(path.database_name, path.table_name)


def table_of(path: TablePath, told: PbTableMetadata | GetTableInfoResponse) -> TableInfo:
    """A table with its latest schema."""
    descriptor = json_form.parse_descriptor(bytes(told.table_json))
    return TableInfo(path, told.table_id, told.schema_id, descriptor, told.created_time, told.modified_time)


def bucket_of(bucket: PbTableBucket) -> TableBucket:
    """A bucket."""
    return TableBucket(bucket.table_id, bucket.partition_id, bucket.bucket_id)


def bucket_message(bucket: TableBucket) -> PbTableBucket:
    """The same, back."""
    return PbTableBucket(table_id=bucket.table_id, partition_id=bucket.partition_id, bucket_id=bucket.bucket)


def lead_of(told: PbBucketMetadata) -> Lead:
    """Who leads a bucket."""
    epoch = _NO_EPOCH if told.leader_epoch is None else told.leader_epoch
    leader = told.leader_id if told.leader_id is not None and told.leader_id >= 0 else None
    return Lead(leader, epoch, tuple(told.replica_id))
