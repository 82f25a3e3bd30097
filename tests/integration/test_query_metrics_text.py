"""What a connection tells of its queries."""

from __future__ import annotations

import pytest
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.errors import LakewardError

pytestmark = pytest.mark.slow


def test_a_connection_counts_what_its_queries_read(lake: Warehouse, database: str) -> None:
    """Tiers, rows and seconds of SQL in Prometheus' text; a connection of its own begins at nothing."""
    log = lake.conn.create_table(f"{database}.log", "id BIGINT", buckets=1, properties=TIERED)
    keyed = lake.conn.create_table(
        f"{database}.keyed", "id BIGINT NOT NULL, n INT", primary_key=["id"], buckets=1, properties=TIERED
    )
    log.append([{"id": i} for i in range(90)])
    keyed.upsert([{"id": i, "n": 0} for i in range(50)])
    lake.round(log)
    lake.round(keyed)
    log.append([{"id": i} for i in range(90, 100)])
    keyed.upsert([{"id": i, "n": 1} for i in range(5)])
    assert log.query("SELECT sum(id) AS s FROM t").to_pylist() == [{"s": 4950}]
    assert keyed.query("SELECT sum(n) AS s FROM t").to_pylist() == [{"s": 5}]
    told = lake.conn.metrics().splitlines()
    assert 'lakeward_query_scans_total{tier="HYBRID"} 1' in told
    assert 'lakeward_query_scans_total{tier="LAKE_ONLY"} 1' in told
    assert 'lakeward_query_rows_total{tier="LAKE_ONLY"} 90' in told
    assert 'lakeward_query_rows_total{tier="LOG_ONLY"} 10' in told
    with pytest.raises(LakewardError):
        log.query("SELECT nothing FROM t")
    told = lake.conn.metrics().splitlines()
    assert "lakeward_query_seconds_count 3" in told
    assert "lakeward_query_failures_total 1" in told
    with lakeward.connect(lake.bootstrap) as other:
        assert "tier=" not in other.metrics()
