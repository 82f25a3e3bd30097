"""`lakeward serve --tablets` behind TLS, with partitions that come and go with the calendar."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from eventually import eventually
from server_process import ServerProcess

import lakeward as lw
from lakeward.cli.commands.access.dev_authority import DevAuthority
from lakeward.runtime.clock import SystemClock

_AUTO = {
    "table.auto-partition.enabled": "true",
    "table.auto-partition.time-unit": "DAY",
    "table.auto-partition.time-zone": "UTC",
    "table.auto-partition.num-precreate": "2",
    "table.auto-partition.num-retention": "3",
}


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[lw.Connection]:
    """A client of a coordinator and two tablet servers, all of which encrypt."""
    authority = DevAuthority(tmp_path / "certs", SystemClock(), days=2)
    authority.server(("localhost", "127.0.0.1", "::1"))
    options = {
        "security__protocol__map": "FLUSS:SSL",
        "security__tls__certificate_file": str(authority.path("server")),
        "security__tls__key_file": str(authority.path("server", "key")),
        "auto_partition__check__interval": "1s",
    }
    with ServerProcess(tmp_path / "data", tablets=2, **options) as server:
        trust = {"client.security.protocol": "SSL", "client.security.tls.ca-file": str(authority.path("ca"))}
        with lw.connect(server.bootstrap, **trust) as made:
            yield made
        assert server.stop() == 0
    assert "Traceback" not in server.log_text, server.log_text[-8000:]


@pytest.mark.covering("keyed")
@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (day, id)"], ids=["log", "keyed"])
def test_partitions_of_today_are_there_and_old_ones_go(conn: lw.Connection, key: str) -> None:
    """Rows of today are written and read at whichever server has them, over TLS."""
    table = conn.create_table(
        "fluss.daily", f"day STRING NOT NULL, id BIGINT NOT NULL{key}", partition_by="day", buckets=3, properties=_AUTO
    )
    today = f"{datetime.now(UTC):%Y%m%d}"
    assert eventually(lambda: today in [one.name for one in table.partitions()])
    rows = [{"day": today, "id": number} for number in range(200)]
    for _ in range(8):  # so many that some go over lines of their own
        (table.upsert if key else table.append)(rows)
    found = table.lookup([{"day": today, "id": 7}]) if key else table.scan().to_arrow()
    assert found.num_rows == (1 if key else 1600)
    old = f"{datetime.now(UTC) - timedelta(days=2):%Y%m%d}"
    table.create_partition({"day": old})
    conn.alter_table("fluss.daily", set={"table.auto-partition.num-retention": "1"})
    assert eventually(lambda: old not in [one.name for one in table.partitions()])
