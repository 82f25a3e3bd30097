"""Changes are written down by name; values stay where they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from principals import PrincipalWorld
from simulated_server import DATA_DIR
from wire_client import WireCluster
from wire_tables import WireTable

from lakeward.errors import LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.cluster import AlterClusterConfigsRequest
from lakeward.protocol.messages.database import CreateDatabaseRequest
from lakeward.protocol.messages.partition import DropPartitionRequest, PbPartitionSpec
from lakeward.protocol.messages.shared import PbAlterConfig, PbKeyValue
from lakeward.protocol.messages.table import AlterTableRequest
from lakeward.server.grants.records.audited_calls import AUDITED

#: Names of calls that change what there is; rows have their own way to be counted.
_CHANGES = ("CREATE_", "ALTER_", "DROP_", "ADD_", "REMOVE_", "REBALANCE", "CANCEL_")
_OF_READERS = {Api.DROP_KV_SNAPSHOT_LEASE}


def test_every_change_is_audited() -> None:
    """A new one, too."""
    assert set(AUDITED) == {api for api in Api if api.name.startswith(_CHANGES)} - _OF_READERS


def test_names_are_written_down_and_values_are_not() -> None:
    """What was changed, not to what; a failure has its code."""
    world = PrincipalWorld()
    admin = world.admin
    admin.call(Api.CREATE_DATABASE, CreateDatabaseRequest(database_name="shop", ignore_if_exists=False))
    table = WireTable.create(WireCluster(admin, admin), "shop", "orders")
    with pytest.raises(LakewardError):
        admin.call(Api.CREATE_DATABASE, CreateDatabaseRequest(database_name="shop", ignore_if_exists=False))
    secret = (PbAlterConfig(config_key="datalake.iceberg.token", config_value="hush", op_type=0),)
    admin.call(Api.ALTER_CLUSTER_CONFIGS, AlterClusterConfigsRequest(alter_configs=secret))
    own = (PbAlterConfig(config_key="my.owner", config_value="hush", op_type=0),)
    admin.call(
        Api.ALTER_TABLE, AlterTableRequest(table_path=table.path, ignore_if_not_exists=False, config_changes=own)
    )
    spec = PbPartitionSpec(partition_key_values=(PbKeyValue(key="day", value="1"),))
    drop = DropPartitionRequest(table_path=table.path, partition_spec=spec, ignore_if_not_exists=False)
    assert admin.error_code(Api.DROP_PARTITION, drop) == 37
    world.stop()
    (path,) = world.files.glob(world.files.resolve(Path(DATA_DIR)), "audit*.jsonl")
    text = world.files.read_bytes(path).decode()
    assert "hush" not in text
    told = [{key: value for key, value in json.loads(line).items() if key not in _WHO} for line in text.splitlines()]
    assert told == [
        {"event": "CREATE_DATABASE", "outcome": "done", "database": "shop"},
        {"event": "CREATE_TABLE", "outcome": "done", "table": "shop.orders"},
        {"event": "CREATE_DATABASE", "outcome": "failed", "database": "shop", "error": "DATABASE_ALREADY_EXIST"},
        {"event": "ALTER_CLUSTER_CONFIGS", "outcome": "done", "options": ["datalake.iceberg.token"]},
        {"event": "ALTER_TABLE", "outcome": "done", "table": "shop.orders", "options": ["my.owner"], "columns": []},
        {
            "event": "DROP_PARTITION",
            "outcome": "failed",
            "table": "shop.orders",
            "partition": {"day": "1"},
            "error": "TABLE_NOT_PARTITIONED",
        },
    ]


_WHO = {"time", "principal", "peer"}
