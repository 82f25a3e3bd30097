"""What a real Apache Fluss answered to the official Flink tiering service, asked of our handlers again.

The service is of 0.9, and so was the server: what 1.0 added to answers is left out of the comparison.
"""

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
from lakeward.server.coordinator.handlers.service import handlers
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.whereabouts.cluster_map import Door

RECORDING = Path(__file__).parents[4] / "data" / "flink-tiering-0.9.jsonl"
RECORDED_AT_MS = 1794720709000
FRESHNESS_MS = 5000
VARYING = {"created_time", "modified_time", "host", "port", "remote_data_dir", "error_message", "leader_epoch"}
#: What the server of 1.0 fills in, and that of 0.9 did not.
SINCE_1_0 = {"table.kv.standby-replica.enabled"}
#: Snapshots of state are RocksDB's files there; we have none to hand out.
NOT_HERE = {Api.GET_LATEST_KV_SNAPSHOTS, Api.GET_KV_SNAPSHOT_METADATA}
SETTINGS = {
    "datalake.format": "iceberg",
    "datalake.iceberg.type": "hadoop",
    "datalake.iceberg.warehouse": "/srv/fl/wh",
}


def comparable(node: Any) -> Any:
    """A message without what differs from run to run: JSON as JSON, lists of buckets in their order."""
    match node:
        case bytes() if node.startswith(b"{"):
            return comparable(json.loads(node))
        case dict():
            return {
                key: comparable(value)
                for key, value in node.items()
                if key not in VARYING | SINCE_1_0 and value not in (None, (), [])
            }
        case list() | tuple():
            return sorted((comparable(item) for item in node), key=str)
        case _:
            return node


class Replay:
    """A coordinator, the recorded conversation, and whose file stands for which recorded one."""

    def __init__(self, data_dir: Path) -> None:
        self.clock = ManualClock(RECORDED_AT_MS)
        options = ServerOptions.of({**SETTINGS, "data.dir": str(data_dir)})
        store = MemoryMetadataStore()
        self.coordinator = Coordinator(store, ClusterConfig(store, options), self.clock, SeededEntropy(1), LocalFiles())
        self.handlers = handlers(self.coordinator)
        self.paths: dict[str, str] = {}

    def ask(self, exchange: dict[str, Any]) -> tuple[int, Any]:
        """The code and the answer of ours."""
        api = Api[exchange["api"]]
        request = self._with_our_paths(decode(api.request, bytes.fromhex(exchange["request_hex"])))
        if exchange.get("response", {}).get("tiering_table"):
            self._let_time_pass()
        try:
            answer = self.handlers[api](request, Caller(exchange["version"], Door("FLUSS", "localhost", 9123)))
            return 0, decode(api.response, encode(answer))
        except LakewardError as refused:
            return refused.code.value, refused

    def _let_time_pass(self) -> None:
        """The service asked again and again until a table was due."""
        self.coordinator.tick()
        if not any(table.state == "pending" for table in self.coordinator.tiering.machine):
            self.clock.advance(FRESHNESS_MS)

    def note_paths(self, ours: Any, theirs: Any) -> None:
        """Remember which file of ours stands for which recorded one."""
        for one, other in zip(ours.prepare_lake_table_resp, theirs.prepare_lake_table_resp, strict=True):
            self.paths[other.lake_table_offsets_path] = one.lake_table_offsets_path

    def _with_our_paths(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._with_our_paths(one) for one in value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            parts = {f.name: self._with_our_paths(getattr(value, f.name)) for f in dataclasses.fields(value)}
            return type(value)(**parts)
        return self.paths.get(value, value) if isinstance(value, str) else value


def test_the_tiering_service_of_apache_fluss_is_answered_alike(tmp_path: Path) -> None:
    """Three tables, three rounds: every heartbeat, prepared file, commit and question in the recorded order."""
    replay = Replay(tmp_path)
    asked: dict[Api, int] = {}
    for number, line in enumerate(RECORDING.read_text().splitlines()):
        exchange = json.loads(line)
        api = Api.__members__.get(exchange["api"])
        if api is None or api not in replay.handlers or api in NOT_HERE:
            continue
        asked[api] = asked.get(api, 0) + 1
        code, answer = replay.ask(exchange)
        where = f"exchange {number}, {api.name}"
        assert code == exchange.get("error", {}).get("error_code", 0), f"{where}: {answer}"
        if code:
            continue
        recorded = decode(api.response, bytes.fromhex(exchange["response_hex"]))
        if api is Api.PREPARE_LAKE_TABLE_SNAPSHOT:
            replay.note_paths(answer, recorded)
            continue
        ours, theirs = comparable(dataclasses.asdict(answer)), comparable(dataclasses.asdict(recorded))
        if api is Api.GET_METADATA:
            ours.pop("tablet_servers"), theirs.pop("tablet_servers")
        assert ours == theirs, where
    assert asked[Api.LAKE_TIERING_HEARTBEAT] == 19
    assert asked[Api.GET_LAKE_SNAPSHOT] == 14
    assert asked[Api.PREPARE_LAKE_TABLE_SNAPSHOT] == asked[Api.COMMIT_LAKE_TABLE_SNAPSHOT] == 6


def test_the_offsets_files_are_where_and_what_apache_fluss_has(tmp_path: Path) -> None:
    """One file a table is left, named after the table, with the end of every bucket."""
    replay = Replay(tmp_path)
    for line in RECORDING.read_text().splitlines():
        exchange = json.loads(line)
        api = Api.__members__.get(exchange["api"])
        if api is not None and api in replay.handlers and api not in NOT_HERE:
            _, answer = replay.ask(exchange)
            if api is Api.PREPARE_LAKE_TABLE_SNAPSHOT:
                replay.note_paths(answer, decode(api.response, bytes.fromhex(exchange["response_hex"])))
    lake = tmp_path / "remote" / "lake" / "rec"
    found = {path.parents[1].name: path.read_text() for path in lake.rglob("*.offsets")}
    assert found == {
        "events-0": '{"version":1,"table_id":0,"bucket_offsets":[100,100]}',
        "users-1": '{"version":1,"table_id":1,"bucket_offsets":[31]}',
        "parts-2": '{"version":1,"table_id":2,"partition_offsets":[{"partition_id":0,"bucket_offsets":[10]}]}',
    }
