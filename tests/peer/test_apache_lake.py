"""Our tiering service moves an Apache Fluss cluster's tables into the lake tables that its coordinator created."""

from __future__ import annotations

import json
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.apache_fluss import lake_catalog
from eventually import eventually
from pyiceberg.catalog import load_catalog

import lakeward as lw
from lakeward.tiering.assembly import assembled, local_runner
from lakeward.tiering.settings import TieringSettings
from lakeward.tiering.watchers import LogWatcher

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

_BOOTSTRAP, _DIRECTORY = json.loads(os.environ["LAKEWARD_PEER_LAKE"])
_TIERED = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"}


@pytest.fixture
def conn() -> Iterator[lw.Connection]:
    """A connection to the cluster."""
    with lw.connect(_BOOTSTRAP) as opened:
        yield opened


@pytest.fixture
def tiering(conn: lw.Connection, tmp_path: Path) -> Iterator[None]:
    """A tiering service of ours, on threads of this process."""
    settings = TieringSettings(_BOOTSTRAP, lake_catalog(Path(_DIRECTORY)), state_dir=tmp_path)
    service = assembled(settings, conn, local_runner(conn, 2), LogWatcher())
    thread = threading.Thread(target=service.run)
    thread.start()
    yield
    service.stop()
    thread.join()


def in_lake(path: str, key: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """The rows of the lake's table as pyiceberg reads them."""
    properties = lake_catalog(Path(_DIRECTORY))
    catalog = load_catalog(properties.pop("name"), **properties)
    return sorted(map(key, catalog.load_table(path).scan().to_arrow().to_pylist()))


def settled(path: str, key: Callable[[dict[str, Any]], Any], wanted: list[Any]) -> bool:
    """Whether the lake has just these rows."""
    return in_lake(path, key) == wanted


@pytest.mark.usefixtures("tiering")
def test_a_log_flows_on_round_by_round(conn: lw.Connection) -> None:
    """Rows of two rounds are in the lake once each, and the cluster knows how far the lake is."""
    path = f"fluss.log_{uuid.uuid4().hex[:8]}"
    table = conn.create_table(path, "id BIGINT, name STRING", buckets=2, properties=_TIERED)
    table.append([{"id": i, "name": f"row {i}"} for i in range(500)])
    assert eventually(lambda: settled(path, lambda row: row["id"], list(range(500))), within_s=120)
    table.append([{"id": i, "name": f"row {i}"} for i in range(500, 600)])
    assert eventually(lambda: settled(path, lambda row: row["id"], list(range(600))), within_s=120)
    known = conn.lake.snapshot(path)
    assert known is not None
    assert sum(known.offsets.values()) <= 600


@pytest.mark.usefixtures("tiering")
def test_a_primary_key_table_is_in_the_lake_as_it_is(conn: lw.Connection) -> None:
    """Updates and deletes follow; any Iceberg reader sees the rows as the cluster has them."""
    path = f"fluss.keyed_{uuid.uuid4().hex[:8]}"
    columns = "id BIGINT NOT NULL, name STRING"
    table = conn.create_table(path, columns, primary_key=["id"], buckets=2, properties=_TIERED)
    table.upsert([{"id": i, "name": "old"} for i in range(300)])
    assert eventually(lambda: len(in_lake(path, lambda row: row["id"])) == 300, within_s=120)
    table.upsert([{"id": i, "name": "new"} for i in range(0, 300, 3)])
    table.delete([{"id": 5}, {"id": 6}])
    wanted = sorted((row["id"], row["name"]) for row in table.snapshot().to_pylist())
    assert eventually(lambda: settled(path, lambda row: (row["id"], row["name"]), wanted), within_s=120)
