"""A coordinator in memory, and short ways to ask it things."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lakeward.errors import LakewardError
from lakeward.model.table import TableInfo, TablePath
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode
from lakeward.protocol.messages import partition as partition_messages
from lakeward.protocol.messages import table as table_messages
from lakeward.protocol.messages.shared import PbAlterConfig, PbKeyValue, PbTablePath
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.catalog.events import Event
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.service import handlers
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.metadata_store.port import MetadataStore
from lakeward.server.whereabouts.cluster_map import Door

DATABASE = "fluss"
NOON_MS = 1_731_324_600_000  # 2024-11-11T11:30Z
CALLER = Caller(0, Door("FLUSS", "here", 9123))
COLUMNS = ("id INTEGER", "name STRING", "n BIGINT", "dt STRING", "day DATE", "tags ARRAY", "price DECIMAL")


class World:
    """A coordinator whose clock stands at 2024-11-11T11:30Z."""

    def __init__(self, store: MetadataStore | None = None, clock: ManualClock | None = None, **settings: str) -> None:
        self.store: MetadataStore = MemoryMetadataStore() if store is None else store
        self.clock = ManualClock(NOON_MS) if clock is None else clock
        options = ServerOptions.of({key.replace("__", "-").replace("_", "."): value for key, value in settings.items()})
        config = ClusterConfig(self.store, options)
        self.coordinator = Coordinator(self.store, config, self.clock, SeededEntropy(1), LocalFiles())
        self.catalog = self.coordinator.catalog
        self.handlers = handlers(self.coordinator)
        self.events: list[Event] = []
        self.coordinator.on_change(self.events.append)

    def ask(self, api: Api, request: Any) -> Any:
        """Ask as a client would, through the wire's own forms."""
        answer = self.handlers[api](decode(api.request, encode(request)), CALLER)
        return decode(api.response, encode(answer))

    def refusal(self, api: Api, request: Any) -> LakewardError:
        """The error a request is answered with."""
        with pytest.raises(LakewardError) as refused:
            self.ask(api, request)
        return refused.value

    def create(self, name: str = "t", **descriptor: Any) -> TableInfo:
        """Create a table; see table_json."""
        self.ask(Api.CREATE_TABLE, create_request(name, **descriptor))
        return self.table(name)

    def create_code(self, **descriptor: Any) -> int:
        """The code with which a table is refused."""
        return int(self.refusal(Api.CREATE_TABLE, create_request("t", **descriptor)).code.value)

    def table(self, name: str = "t") -> TableInfo:
        """The table as it is."""
        found = self.catalog.table_by_path(TablePath(DATABASE, name))
        assert found is not None
        return found

    def partitions(self, name: str = "t") -> list[str]:
        """The partitions of a table, by name."""
        return sorted(p.name for p in self.catalog.partitions_of(self.table(name).table_id))


def path(name: str = "t", database: str = DATABASE) -> PbTablePath:
    """A table's name on the wire."""
    return PbTablePath(database_name=database, table_name=name)


def create_request(name: str, *, ignore: bool = False, **descriptor: Any) -> table_messages.CreateTableRequest:
    """A request to create a table."""
    return table_messages.CreateTableRequest(
        table_path=path(name), table_json=table_json(**descriptor), ignore_if_exists=ignore
    )


def alter_request(name: str = "t", **changes: str | None) -> table_messages.AlterTableRequest:
    """A request to set properties, or to reset those given as None."""
    return table_messages.AlterTableRequest(
        table_path=path(name),
        ignore_if_not_exists=False,
        config_changes=tuple(
            PbAlterConfig(config_key=key, config_value=value, op_type=1 if value is None else 0)
            for key, value in changes.items()
        ),
    )


def spec(**values: str) -> partition_messages.PbPartitionSpec:
    """A partition on the wire."""
    return partition_messages.PbPartitionSpec(
        partition_key_values=tuple(PbKeyValue(key=key, value=value) for key, value in values.items())
    )


def partition_request(name: str = "t", *, ignore: bool = False, **values: str) -> Any:
    """A request to create a partition."""
    return partition_messages.CreatePartitionRequest(
        table_path=path(name), partition_spec=spec(**values), ignore_if_not_exists=ignore
    )


def table_json(
    columns: Sequence[str] = COLUMNS,
    key: Sequence[str] = (),
    partitions: Sequence[str] = (),
    buckets: Sequence[str] = (),
    count: Any = 1,
    properties: Mapping[str, Any] | None = None,
    custom: Mapping[str, str] | None = None,
    schema: Mapping[str, Any] | None = None,
    **more: Any,
) -> bytes:
    """A descriptor as clients send it; columns are written "name TYPE"."""
    node: dict[str, Any] = {
        "version": 1,
        "schema": {"version": 1, "columns": [_column(i, text) for i, text in enumerate(columns)], **(schema or {})},
        "partition_key": list(partitions),
        "bucket_key": list(buckets),
        "properties": dict(properties or {}),
        "custom_properties": dict(custom or {}),
        **more,
    }
    if key:
        node["schema"]["primary_key"] = list(key)
    if count is not None:
        node["bucket_count"] = count
    return json.dumps(node).encode()


def _column(index: int, text: str) -> dict[str, Any]:
    name, _, root = text.rpartition(" ")
    extra: dict[str, Any] = {
        "ARRAY": {"element_type": {"type": "INTEGER"}},
        "DECIMAL": {"precision": 10, "scale": 2},
        "TIMESTAMP_WITHOUT_TIME_ZONE": {"precision": 6},
    }.get(root, {})
    return {"name": name, "data_type": {"type": root, **extra}, "id": index}
