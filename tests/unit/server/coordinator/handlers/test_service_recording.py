"""What a real Apache Fluss answered to the official client, asked of our handlers again."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from lakeward.errors import LakewardError
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handler
from lakeward.server.coordinator.handlers.service import handlers
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.whereabouts.cluster_map import Door

RECORDING = Path(__file__).parents[4] / "data" / "client-1.0.jsonl"
RECORDED_AT_MS = 1794720492339
VARYING = {"table_id", "partition_id", "writer_id", "created_time", "modified_time", "host", "port", "remote_data_dir"}
UNORDERED = {"database_name", "partitions_info"}


def comparable(node: Any) -> Any:
    """A response without what differs from run to run: JSON is compared as JSON, sets as sets."""
    match node:
        case bytes() if node.startswith(b"{"):
            return json.loads(node)
        case dict():
            found = {k: "…" if k in VARYING else comparable(v) for k, v in node.items() if v not in (None, (), [])}
            for key in UNORDERED & found.keys():
                if isinstance(found[key], list):
                    found[key] = sorted(found[key], key=str)
            return found
        case list() | tuple():
            return [comparable(item) for item in node]
        case _:
            return node


def answered(handler: Handler, request: Any, caller: Caller) -> tuple[int, Any]:
    """Code 0 and the response, or the code of the refusal and its error."""
    try:
        return 0, handler(request, caller)
    except LakewardError as refused:
        return refused.code.value, refused


def test_every_control_request_of_the_recording_is_answered_alike() -> None:
    """Fields, values and error codes are those of Apache Fluss, but for ids, times and addresses."""
    clock = ManualClock(RECORDED_AT_MS)
    store = MemoryMetadataStore()
    served = handlers(Coordinator(store, ClusterConfig(store, ServerOptions()), clock, SeededEntropy(1), LocalFiles()))
    asked = 0
    for number, line in enumerate(RECORDING.read_text().splitlines()):
        exchange = json.loads(line)
        api = Api[exchange["api"]]
        if api not in served:
            continue
        asked += 1
        request = decode(api.request, bytes.fromhex(exchange["request_hex"]))
        where = f"exchange {number}, {api.name}"
        code, answer = answered(served[api], request, Caller(exchange["version"], Door("FLUSS", "localhost", 9123)))
        assert code == exchange.get("error", {}).get("error_code", 0), f"{where}: {answer}"
        if code == 0:
            recorded = decode(api.response, bytes.fromhex(exchange["response_hex"]))
            sent = decode(api.response, encode(answer))  # parts of an answer may have been encoded before
            assert comparable(dataclasses.asdict(sent)) == comparable(dataclasses.asdict(recorded)), where
    assert asked > 60
