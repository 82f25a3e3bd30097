"""A recorded conversation of the official client with a real Apache Fluss, held again with our server.

Every answer must have the same fields and values as the recorded one. Ids, times, addresses and directories are the
server's own: ids must map one to one, the rest must be there. What else may differ stands in `DIFFERENCES`, each with
its reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from server_process import ServerProcess
from wire_client import WireClient

from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode
from lakeward.records.batch.batch_header import BatchHeader
from lakeward.records.batch.log_batch import walk_batches
from lakeward.records.ipc.arrow_message import NO_CODEC, read_message
from lakeward.records.ipc.buffer_codecs import codec_of_id

EXCHANGES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "data" / "client-1.0.jsonl").read_text().splitlines()
]
OWN = {"created_time", "modified_time", "host", "port", "remote_data_dir", "error_message"}
IDS = {"table_id", "partition_id", "writer_id"}
#: APIs that Apache Fluss lists and we do not: between its servers, or of later issues.
NOT_YET = {
    *(1013, 1018, 1019, 1020, 1022, 1027, 1028, 1029, 1031, 1043),  # private, between servers
}
#: Exchange number → why its answer may differ. Everything else must be equal.
DIFFERENCES = {
    **dict.fromkeys((124, 125, 126, 127), "the recording keeps only the first bytes of these batches"),
    129: "remote log is a later issue; the rows it would point to were not recorded",
    130: "the rows it reads were not recorded",
}


@dataclass
class Replay:
    """The state of a conversation: which of our ids stands for which recorded one."""

    bootstrap: str
    ids: dict[str, dict[int, int]] = field(default_factory=lambda: {name: {} for name in IDS})
    connections: dict[int, WireClient] = field(default_factory=dict)

    def connection(self, number: int) -> WireClient:
        """One connection per recorded one."""
        if number not in self.connections:
            self.connections[number] = WireClient.of(self.bootstrap)
        return self.connections[number]

    def request(self, exchange: dict) -> Any:
        """The recorded request with our ids in it."""
        message = decode(Api[exchange["api"]].request, bytes.fromhex(exchange["request_hex"]))
        return self._with_our_ids(message)

    def _with_our_ids(self, value: Any, name: str = "") -> Any:
        if isinstance(value, tuple):
            return tuple(self._with_our_ids(one, name) for one in value)
        if is_dataclass(value):
            parts = {f.name: self._with_our_ids(getattr(value, f.name), f.name) for f in fields(value)}
            return type(value)(**parts)
        known = self.ids.get("partition_id" if name == "partitions_id" else name, {})
        return known.get(value, value) if isinstance(value, int) else value

    def differences(self, ours: Any, theirs: Any, path: str = "", name: str = "") -> Iterator[str]:
        """Where two answers, as plain values, are not the same."""
        if name in OWN:
            if (ours is None) != (theirs is None):
                yield f"{path}: {ours!r} instead of {theirs!r}"
        elif isinstance(theirs, dict) and isinstance(ours, dict):
            for key in sorted(theirs.keys() | ours.keys()):
                yield from self.differences(ours.get(key), theirs.get(key), f"{path}.{key}", key)
        elif isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
            pairs = zip(_ordered(ours), _ordered(theirs), strict=True)
            for place, (one, other) in enumerate(pairs):
                yield from self.differences(one, other, f"{path}[{place}]", name)
        elif name in IDS and isinstance(ours, int) and isinstance(theirs, int):
            if self.ids[name].setdefault(theirs, ours) != ours:
                yield f"{path}: {ours} stands for {theirs}, which was {self.ids[name][theirs]} before"
        elif ours != theirs:
            yield f"{path}: {ours!r} instead of {theirs!r}"


def _ordered(values: list) -> list:
    """Lists of buckets, partitions and names come in any order."""

    def key(value: Any) -> str:
        if not isinstance(value, dict):
            return str(value)
        return str(value.get("bucket_id", value.get("partition_spec", "")))

    return sorted(values, key=key)


def plain(value: Any, name: str = "") -> Any:
    """A message as names and values: JSON parsed, batches taken apart, absent fields left out."""
    if is_dataclass(value):
        parts = {f.name: plain(getattr(value, f.name), f.name) for f in fields(value)}
        return {key: part for key, part in parts.items() if part is not None and part != []}
    if isinstance(value, tuple):
        return [plain(one, name) for one in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value), name)
    return value


def recorded(exchange: dict) -> Any:
    """A recorded answer in the same form; the names in the recording show that decoding lost no field."""
    message = decode(Api[exchange["api"]].response, bytes.fromhex(exchange["response_hex"]))
    answer = plain(message)
    assert _names(answer) == _names(exchange["response"])
    return answer


def _names(value: Any) -> Any:
    """The names of fields and the lengths of lists, without the values."""
    if isinstance(value, dict):
        return {_snake(key): _names(part) for key, part in value.items() if key not in {"records", "table_json"}}
    return [_names(one) for one in value] if isinstance(value, list) else None


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), name)


def _bytes(data: bytes, name: str) -> Any:
    if name in {"table_json", "schema_json"}:
        return json.loads(data)
    return [_batch(data, span) for span in walk_batches(data)] if name == "records" else data.hex()


def _batch(data: bytes, span: Any) -> dict[str, Any]:
    """A batch without its time; the metadata of a projected one has a layout of the writer's own."""
    header = span.header._replace(commit_timestamp_ms=0, length=0)
    rows = data[span.start + span.header.header_bytes : span.end]
    if header.record_count and header.append_only and rows[:4] == b"\xff\xff\xff\xff":
        message = read_message(rows, 0, len(rows))
        nodes = rows[message.nodes_at : message.nodes_at + 16 * message.node_count]
        body = rows[message.body_at :]
        return {"header": list(header), "nodes": nodes.hex(), "buffers": list(message.buffers), "body": body.hex()}
    if header.record_count and rows[header.record_count :][:4] == b"\xff\xff\xff\xff":
        return _changes(header._replace(crc=0), rows)
    return {"header": list(header), "rows": rows.hex()}


def _changes(header: BatchHeader, rows: bytes) -> dict[str, Any]:
    """A changelog batch by what it says: each server lays out and compresses its own."""
    at = header.record_count
    message = read_message(rows, at, len(rows))
    pairs = zip(message.buffers[::2], message.buffers[1::2], strict=True)
    stored = [rows[message.body_at + start : message.body_at + start + size] for start, size in pairs]
    raw = [_uncompressed(buffer, message.codec) for buffer in stored]
    said = [_said(buffer, at) for buffer in raw if buffer]
    return {
        "header": list(header),
        "changes": rows[:at].hex(),
        "rows": message.rows,
        "buffers": [one for one in said if one != _said(b"\xff" * ((at + 7) // 8), at)],
    }


def _uncompressed(buffer: bytes, codec: int) -> bytes:
    if not buffer or codec == NO_CODEC:
        return buffer
    size = int.from_bytes(buffer[:8], "little", signed=True)
    return buffer[8:] if size < 0 else bytes(codec_of_id(codec).decompress(buffer[8:], size))


def _said(buffer: bytes, rows: int) -> str:
    """A buffer; of one that may be validity bits, only those of rows count, for what follows the last is anything."""
    if len(buffer) == (rows + 7) // 8:
        buffer = (int.from_bytes(buffer, "little") & ((1 << rows) - 1)).to_bytes(len(buffer), "little")
    return buffer.hex()


def test_the_apis_have_the_versions_of_apache_fluss(lakeward: ServerProcess) -> None:
    """What we list has the same versions; what we leave out is known and has a reason."""
    theirs = {
        row["api_key"]: row
        for exchange in EXCHANGES
        if exchange["api"] == "API_VERSIONS"
        for row in exchange["response"]["api_versions"]
    }
    with WireClient.of(lakeward.bootstrap) as client:
        answer = client.call(
            Api.API_VERSIONS, decode(Api.API_VERSIONS.request, bytes.fromhex(EXCHANGES[0]["request_hex"]))
        )
    ours = {row.api_key: plain(row) for row in answer.api_versions}
    assert all(theirs[key] == row for key, row in ours.items() if key in theirs)
    assert set(theirs) - set(ours) == NOT_YET
    assert answer.server_type is None, "one port plays both roles, and clients then skip their check"


@pytest.mark.timeout(120)
def test_the_conversation_goes_the_same_way(new_server: Any) -> None:
    """Request by request in the recorded order: same fields, same values, same codes."""
    replay = Replay(new_server().bootstrap)
    found = []
    for number, exchange in enumerate(EXCHANGES):
        if exchange["api"] == "API_VERSIONS" or number in DIFFERENCES:
            continue
        api = Api[exchange["api"]]
        client = replay.connection(exchange["conn"])
        request_id, data = client.frame(api.value, exchange["version"], encode(replay.request(exchange)))
        client.send_bytes(data)
        frame = client.frame_of(request_id)
        if "error" in exchange:
            ours: Any = frame.error.error_code if frame.kind else 0
            theirs: Any = exchange["error"]["error_code"]
        elif frame.kind:
            ours, theirs = plain(frame.error), "an answer"
        else:
            ours = plain(decode(api.response, frame.body))
            theirs = recorded(exchange)
        if api is Api.LIST_PARTITION_INFOS and exchange["request"]["table_path"]["table_name"] == "auto":
            ours, theirs = _count_partitions(ours), _count_partitions(theirs)
        found += [f"{number} {api.name}{text}" for text in replay.differences(ours, theirs)]
    assert not found, "\n".join(found)


def _count_partitions(answer: Any) -> Any:
    """Partitions that were made by the calendar have today's names."""
    return [sorted(partition) for partition in answer["partitions_info"]]
