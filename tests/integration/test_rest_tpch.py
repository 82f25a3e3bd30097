"""The 22 queries of TPC-H in a DuckDB that never heard of us, through the REST catalog: hot and cold as one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from catalog_process import CatalogProcess
from server_process import ServerProcess
from tiering_runs import Warehouse
from tpch_tables import KEYS, fill_tables, tpch, wrong_queries


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("keyed", [False, True], ids=["log", "primary key"])
def test_all_22_are_right(new_server: Callable[..., ServerProcess], tmp_path: Path, keyed: bool) -> None:
    """Four fifths are cold; of primary key tables rows were updated and deleted after that."""
    server = new_server()
    lake = Warehouse(server.bootstrap, tmp_path / "lake", is_told=True)
    lake.conn.create_database("tpch")
    with (
        tpch() as duck,
        CatalogProcess(server.bootstrap, tmp_path / "log", "--warehouse", str(tmp_path / "lake")) as rest,
    ):
        fill_tables(duck, lake.conn, lake.round, "tpch", keyed=keyed)
        with rest.duckdb() as stock:
            for table in KEYS:
                stock.execute(f'CREATE VIEW {table} AS FROM lake.tpch."{table}$now"')
            assert wrong_queries(duck, lambda sql: stock.execute(sql).fetchall()) == []
        assert "Traceback" not in rest.log_text
    lake.close()
