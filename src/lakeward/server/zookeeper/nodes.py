"""Paths and contents of the nodes that a tablet server of an Apache Fluss cluster reads and writes. Pure.

What they hold was read from a running 0.9.1 cluster: see docs/formats/zookeeper.md.
"""

from __future__ import annotations

import json
import struct

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.options.endpoint import Endpoint

_REGISTRATION_VERSION = 3
_COUNTER = struct.Struct(">q")

COORDINATOR = "/coordinators/active"
SERVERS = "/tabletservers"
SERVER_IDS = f"{SERVERS}/ids"
WRITER_ID = "/metadata/writer_id"


def server_path(server_id: int) -> str:
    """Where a tablet server registers."""
    return f"{SERVER_IDS}/{server_id}"


def auto_increment_path(database: str, table: str, column_id: int) -> str:
    """The counter behind a table's auto-increment column."""
    return f"/metadata/databases/{database}/tables/{table}/auto_inc/col_{column_id}"


def bucket_path(bucket: TableBucket) -> str:
    """What the cluster knows of a bucket."""
    if bucket.partition_id is None:
        return f"/tabletservers/tables/{bucket.table_id}/buckets/{bucket.bucket}"
    return f"/tabletservers/partitions/{bucket.partition_id}/buckets/{bucket.bucket}"


def remote_log_path(bucket: TableBucket) -> str:
    """Which manifest counts for a bucket's remote log."""
    return f"{bucket_path(bucket)}/remote_logs"


def snapshots_path(bucket: TableBucket) -> str:
    """The snapshots of a bucket's state that count, by number."""
    return f"{bucket_path(bucket)}/snapshots"


def snapshot_number_path(bucket: TableBucket) -> str:
    """The counter behind the numbers of a bucket's snapshots."""
    return f"{bucket_path(bucket)}/snapshot_seqid"


def manifest_of(node: bytes, path: str) -> tuple[str, int]:
    """Where the manifest is that counts, and up to where the log was copied."""
    try:
        told = json.loads(node)
        return str(told["remote_log_manifest_path"]), int(told["remote_log_end_offset"])
    except (ValueError, KeyError, TypeError) as wrong:
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"ZooKeeper's {path} names no manifest: {node[:200]!r}.") from wrong


def snapshot_offset(node: bytes, path: str) -> int:
    """The offset at which the log goes on from a snapshot."""
    try:
        return int(json.loads(node)["log_offset"])
    except (ValueError, KeyError, TypeError) as wrong:
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"ZooKeeper's {path} is no snapshot: {node[:200]!r}.") from wrong


def registration(listeners: list[Endpoint], time_ms: int, rack: str | None) -> bytes:
    """What a tablet server says of itself."""
    told: dict[str, object] = {
        "version": _REGISTRATION_VERSION,
        "listeners": ",".join(f"{one.name}://{one.host}:{one.port}" for one in listeners),
        "register_timestamp": time_ms,
    }
    if rack is not None:
        told["rack"] = rack
    return json.dumps(told, separators=(",", ":")).encode()


def addresses(node: bytes, path: str) -> dict[str, tuple[str, int]]:
    """Listener → host and port, of a coordinator or a tablet server."""
    try:
        told = json.loads(node)
        if "listeners" not in told:  # version 1
            return {"CLIENT": (str(told["host"]), int(told["port"]))}
        endpoints = [Endpoint.parse(text) for text in told["listeners"].split(",")]
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"ZooKeeper's {path} holds no address: {node[:200]!r}.") from wrong
    return {one.name: (one.host or "localhost", one.port) for one in endpoints}


def counter_value(node: bytes) -> int:
    """The number in a counter; one that was never used holds nothing, or something that is no number."""
    return int(_COUNTER.unpack(node)[0]) if len(node) == _COUNTER.size else 0


def counter_node(value: int) -> bytes:
    """A counter that holds a number."""
    return _COUNTER.pack(value)
