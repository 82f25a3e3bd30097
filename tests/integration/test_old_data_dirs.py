"""Data directories of earlier versions open: every row is there, and more can be written."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pyarrow as pa
import pytest
from old_data_dirs import DIRECTORY, KEYED, PARTED, ROWS
from pyfluss_session import Session, append, scan
from server_process import ServerProcess

import lakeward

#: Before primary key tables could be read; its own server never gave such a table a row.
_BEFORE_KEYS = {"6dffeea5"}
_BEFORE_LAKES = {"6dffeea5", "706abfb9", "c342213d"}


@pytest.mark.oracle
@pytest.mark.parametrize("archive", sorted(DIRECTORY.glob("*.tar.xz")), ids=lambda path: path.name.split(".")[0])
async def test_rows_of_an_earlier_version_are_served_and_more_are_taken(archive: Path, tmp_path: Path) -> None:
    """By pyfluss: log, partitions, state by key, tables for the lake; then one more row each, and a restart."""
    commit = archive.name.split(".")[0]
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    with ServerProcess(tmp_path / "data", datalake__format="iceberg") as server:
        await _check(server, commit)
        with lakeward.connect(server.bootstrap) as conn:
            conn.table("kept.parted").append([{"id": 1000, "day": "2026-01-01"}])
            assert conn.table("kept.parted").scan().to_arrow().num_rows == len(PARTED) + 1
            keyed = conn.table("kept.keyed")
            keyed.upsert([{"id": 1000, "name": "more"}])
        assert server.restart().is_running
        with lakeward.connect(server.bootstrap) as conn:
            assert conn.table("kept.keyed").lookup([1000]).to_pylist() == [{"id": 1000, "name": "more"}]
            assert conn.table("kept.rows").scan().to_arrow().num_rows == len(ROWS) + 1
        assert server.stop() == 0
    assert "Traceback" not in server.log_text


async def _check(server: ServerProcess, commit: str) -> None:
    async with await Session.open(server.bootstrap, "kept", writer__batch_timeout_ms="0") as session:
        rows = await session.table("rows")
        assert _by_id(await scan(rows, range(2))) == ROWS
        schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
        await append(rows, pa.record_batch([[1000], ["more"]], schema=schema))
        if commit not in _BEFORE_LAKES:
            lake = await session.table("lake")
            assert _by_id(await scan(lake, range(1))) == ROWS
    with lakeward.connect(server.bootstrap) as conn:
        found = conn.table("kept.parted").scan().to_arrow().select(["id", "day"]).to_pylist()
        assert sorted(found, key=lambda row: row["id"]) == PARTED
        state = [row for row in conn.table("kept.keyed").lookup(list(range(100))).to_pylist() if row["id"] is not None]
        assert state == ([] if commit in _BEFORE_KEYS else list(KEYED.values()))


def _by_id(table: pa.Table) -> list[dict[str, object]]:
    return sorted(table.select(["id", "name"]).to_pylist(), key=lambda row: row["id"])
