"""DuckDB without files and network."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeward.query.duckdb.question.closed_session import DuckBounds, closed_session


def test_only_the_files_that_were_named_can_be_read(tmp_path: Path) -> None:
    """Even where nobody has looked at the SQL, other files, the network, extensions and settings stay closed."""
    lake, other = tmp_path / "it's [1].parquet", tmp_path / "other.parquet"
    for path in (lake, other):
        pq.write_table(pa.table({"a": [1]}), path)
    with closed_session(DuckBounds()) as session:
        session.close_doors([str(lake)])
        quoted = str(lake).replace("'", "''")
        assert session.duck.execute(f"FROM read_parquet(['{quoted}'])").fetchall() == [(1,)]
        for refused in (
            f"FROM '{other}'",
            "FROM read_csv('/etc/passwd')",
            "FROM read_parquet('https://example.org/x.parquet')",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            f"ATTACH '{tmp_path}/x.db'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET memory_limit = '100GB'",
        ):
            with pytest.raises(duckdb.Error):
                session.duck.execute(refused)


def test_memory_is_bounded_and_nothing_stays_on_disk() -> None:
    """One question cannot take the memory of the machine; what it spilled goes with it."""
    with closed_session(DuckBounds(memory_bytes=64 << 20, spill_bytes=1 << 20)) as session:
        spill = Path(session.duck.execute("SELECT current_setting('temp_directory')").fetchone()[0])
        session.close_doors()
        with pytest.raises(duckdb.Error, match="Memory"):
            session.duck.execute("SELECT list(a || repeat('x', 1000)) FROM range(1000000) r(a)").fetchall()
    assert not spill.exists()
