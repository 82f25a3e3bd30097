"""Paths and contents of the nodes that a tablet server of an Apache Fluss cluster reads and writes. Pure.

What they hold was read from a running 0.9.1 cluster: see docs/formats/zookeeper.md.
"""

from __future__ import annotations

import json
import struct

from lakeward.errors import ErrorCode
from lakeward.options.endpoint import Endpoint

_REGISTRATION_VERSION = 3
_COUNTER = struct.Struct(">q")

COORDINATOR = "/coordinators/active"
SERVER_IDS = "/tabletservers/ids"
WRITER_ID = "/metadata/writer_id"


def server_path(server_id: int) -> str:
    """Where a tablet server registers."""
    return f"{SERVER_IDS}/{server_id}"


def auto_increment_path(database: str, table: str, column_id: int) -> str:
    """The counter behind a table's auto-increment column."""
    return f"/metadata/databases/{database}/tables/{table}/auto_inc/col_{column_id}"


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
