"""The page of scripts, and the example of the shop, run as they stand."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
from eventually import eventually
from script_bench import Bench

_ROOT = Path(__file__).parents[3]
_SQL = re.compile(r"^```sql\n(.*?)^```$", re.DOTALL | re.MULTILINE)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_the_page_of_scripts_runs(bench: Bench) -> None:
    """Its SQL is one script; the rows at its end are those that it speaks of."""
    first, *others = _SQL.findall((_ROOT / "docs/guides/sql.md").read_text(encoding="utf-8"))
    assert first.startswith("CREATE CATALOG prod")
    for text in others:
        bench.run(text)
    bench.settle()
    assert bench.table("cities") == [
        ("Lagos", 1, Decimal("10.00"), Decimal("10.00")),
        ("Turin", 1, Decimal("20.00"), Decimal("20.00")),
    ]


def test_the_shop_runs(bench: Bench) -> None:
    """Orders come, are enriched, grouped and counted, and every table says the same of them."""
    bench.script.run((_ROOT / "examples" / "shop.sql").read_text(encoding="utf-8"))

    def has_windows() -> bool:
        return len(bench.table("sales")) > 0 and len(bench.table("spending")) == 6

    assert eventually(has_windows, within_s=200)
    orders, *jobs = bench.script.jobs.running
    orders.stop()
    for job in jobs:  # in their order: what one writes, a later one reads
        for stream in job.streams:
            stream.query.processAllAvailable()
    count, total = bench.rows("SELECT COUNT(*), SUM(amount) FROM orders")[0]
    assert bench.rows("SELECT COUNT(*), SUM(amount) FROM enriched") == [(count, total)]
    assert bench.rows("SELECT SUM(orders), SUM(spent) FROM spending") == [(count, total)]
    known = bench.rows("SELECT COUNT(*), SUM(amount) FROM enriched WHERE city IS NOT NULL")
    assert bench.rows("SELECT SUM(orders), SUM(revenue) FROM sales") == known
    assert bench.table("cities") == [
        ("Izmir", 1, "Emre"),
        ("Lagos", 1, "Chidi"),
        ("Malmö", 1, "Björn"),
        ("Turin", 2, "Ada"),
    ]
    assert bench.rows("SELECT DISTINCT name FROM enriched WHERE city IS NULL") == [("somebody",)]
    bench.script.run("DROP DATABASE cluster.shop CASCADE")
