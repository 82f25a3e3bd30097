"""What is advised for which figures, and that a fine table is left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lakeward.advice.figures import TableFigures
from lakeward.advice.rules import RULES, advise
from lakeward.options.table import TABLE_OPTIONS

FINE = TableFigures(
    "shop.orders",
    has_primary_key=False,
    bucket_count=4,
    columns={"id": "BIGINT", "item": "STRING", "at": "TIMESTAMP(3)"},
    log_rows=1_000_000,
    largest_bucket_rows=260_000,
    row_bytes=60.0,
    batch_rows=500.0,
    rows_per_s_now=2000.0,
    rows_per_s=1500.0,
    sampled_rows=1000,
    distinct={"id": 1000, "item": 7},
)
KEYED = replace(FINE, has_primary_key=True, key_rows=900_000, sampled_changes=20_000, update_share=0.3)
TIERED = replace(FINE, is_tiered=True, lake_files=40, lake_bytes=10**9, lake_snapshots=20)
#: The figures that make a rule speak.
CASES: dict[str, tuple[TableFigures, dict[str, Any]]] = {
    "few buckets": (FINE, {"rows_per_s_now": 950_000.0}),
    "many small buckets": (
        FINE,
        {"bucket_count": 64, "rows_per_s": 3.0, "rows_per_s_now": 0.0, "largest_bucket_rows": 16_000},
    ),
    "skew": (FINE, {"bucket_keys": ("item",), "largest_bucket_rows": 900_000}),
    "many partitions": (
        FINE,
        {"partition_keys": ("region",), "partition_count": 2000, "largest_bucket_rows": 130, "bucket_count": 1},
    ),
    "partitions that stay": (
        FINE,
        {"partition_keys": ("dt",), "partition_count": 10, "columns": {"dt": "STRING"}, "largest_bucket_rows": 30_000},
    ),
    "no partitions": (TIERED, {"lake_bytes": 60 * 10**9}),
    "never expires": (FINE, {"properties": {"table.log.ttl": "0 ms"}}),
    "hot for long": (TIERED, {"log_rows": 10**8, "largest_bucket_rows": 26 * 10**6}),
    "no lake": (FINE, {"log_rows": 10**8, "largest_bucket_rows": 26 * 10**6}),
    "small files": (TIERED, {"lake_files": 5000}),
    "many snapshots": (TIERED, {"lake_snapshots": 900}),
    "freshness": (TIERED, {"properties": {"table.datalake.freshness": "1 s"}}),
    "log format": (FINE, {"properties": {"table.log.format": "INDEXED"}}),
    "compression": (
        FINE,
        {"properties": {"table.log.arrow.compression.type": "NONE"}, "rows_per_s_now": 30_000.0},
    ),
    "small batches": (FINE, {"batch_rows": 1.2}),
    "changelog of updates": (KEYED, {"update_share": 0.95, "key_rows": 1000}),
    "key that never updates": (KEYED, {"update_share": 0.0}),
}


@pytest.mark.parametrize("figures", [FINE, KEYED, TIERED])
def test_a_fine_table_is_left_alone(figures: TableFigures) -> None:
    """Nothing to change is an answer."""
    assert advise(figures) == []


def test_a_table_of_which_nothing_is_known_is_left_alone() -> None:
    """No rule guesses."""
    assert advise(TableFigures("shop.new", has_primary_key=True, bucket_count=16)) == []


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_each_rule_speaks_for_its_figures_alone(rule: str) -> None:
    """With the figure, the reason, and a command or property."""
    figures, changes = CASES[rule]
    (one,) = advise(replace(figures, **changes))
    assert one.rule == rule
    assert all((one.figure, one.advice, one.reason, one.command))
    assert "shop.orders" in one.command or rule in ("small batches", "many snapshots")


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_a_property_that_is_advised_can_be_set(rule: str) -> None:
    """Each `--set` names an option that may change while the table is there, with a value that it takes."""
    figures, changes = CASES[rule]
    (one,) = advise(replace(figures, **changes))
    for words in one.command.split("--set ")[1:]:
        key, _, value = words.split(";")[0].split(" ")[0].partition("=")
        option = next(row for row in TABLE_OPTIONS if row.key == key)
        assert option.dynamic
        option.read({key: value})


def test_skew_names_a_column_that_spreads() -> None:
    """One with many values in the sample; without one, none is named."""
    figures, changes = CASES["skew"]
    (one,) = advise(replace(figures, **changes))
    assert one.advice == "bucket by id"
    assert "7 values of item in 1,000 rows" in one.figure
    (one,) = advise(replace(figures, **changes, distinct={"item": 7}))
    assert "more even" in one.advice


def test_bucket_counts_follow_the_rate() -> None:
    """As many as the rows need, and no more than four where few come."""
    figures, changes = CASES["few buckets"]
    assert advise(replace(figures, **changes))[0].advice == "10 buckets"
    figures, changes = CASES["many small buckets"]
    assert advise(replace(figures, **changes))[0].advice == "1 bucket"
