"""Our client reads what an Apache Fluss cluster has moved to remote storage."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from eventually import eventually

import lakeward as lw

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

_BOOTSTRAP, _DIRECTORY = json.loads(os.environ["LAKEWARD_PEER_REMOTE"])
_MOSTLY_REMOTE = {"table.log.tiered.local-segments": "1"}
_ROWS, _STEP = 200_000, 5000


@pytest.fixture
def conn() -> Iterator[lw.Connection]:
    """A connection to the cluster."""
    with lw.connect(_BOOTSTRAP) as opened:
        yield opened


def rows(start: int, count: int) -> pa.Table:
    """Rows that do not compress to nothing."""
    ids = range(start, start + count)
    return pa.table({"id": pa.array(ids, pa.int64()), "name": [f"row {i * 7919 % 1_000_003}" for i in ids]})


def segments(kind: str, table: lw.Table) -> list[Path]:
    """The log files of a table, `data` or `remote`."""
    return list(Path(_DIRECTORY, kind).glob(f"**/{table.info.path.table}-{table.info.table_id}/**/*.log"))


def is_moved(table: lw.Table, buckets: int) -> bool:
    """Whether only the active segments are left on the server. (It keeps those of primary key tables far longer.)"""
    return len(segments("remote", table)) > buckets and len(segments("data", table)) == buckets


def test_a_log_is_read_from_remote_to_local(conn: lw.Connection) -> None:
    """Every row once, in the order of its bucket, whole and projected, from the middle and a few."""
    path = f"fluss.log_{uuid.uuid4().hex[:8]}"
    table = conn.create_table(path, "id BIGINT, name STRING", buckets=2, properties=_MOSTLY_REMOTE)
    for start in range(0, _ROWS, _STEP):
        table.append(rows(start, _STEP))
    assert eventually(lambda: is_moved(table, 2), within_s=60)
    assert table.scan().to_arrow().sort_by("id") == rows(0, _ROWS)
    assert sorted(table.scan(["id"]).to_arrow()["id"].to_pylist()) == list(range(_ROWS))
    middle = table.scan(start=50_001, end=50_011, metadata_columns=True).to_arrow()
    assert sorted(middle["_offset"].to_pylist()) == sorted([*range(50_001, 50_011)] * 2)
    assert table.scan(limit=10).to_arrow().num_rows == 10
