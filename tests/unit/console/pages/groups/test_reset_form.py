"""A form → where a group is to be."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from lakeward.console.pages.groups.reset_form import ResetForm, reset_of

NOW_MS = 1_700_000_000_000


def reset(to: str, value: str = "", **more: Any) -> Any:
    """What a form means."""
    return reset_of(
        ResetForm(more.pop("group", "billing"), more.pop("table", "shop.orders"), to, value, **more), NOW_MS
    )


@pytest.mark.parametrize(
    ("to", "value", "place"),
    [
        ("earliest", "", "earliest"),
        ("latest", " ", "latest"),
        ("offset", " 1200 ", 1200),
        ("timestamp", "2026-08-01T12:00:00", datetime(2026, 8, 1, 12, tzinfo=UTC)),
        ("timestamp", "60s-ago", datetime.fromtimestamp(NOW_MS / 1000 - 60, UTC)),
    ],
)
def test_a_group_goes_to_an_end_an_offset_or_a_time(to: str, value: str, place: Any) -> None:
    """Times without a zone are UTC, like all that the console shows."""
    found = reset(to, value)
    assert (found.to, found.errors) == (place, {})


@pytest.mark.parametrize(
    ("to", "value", "field"),
    [
        ("", "", "to"),
        ("elsewhere", "", "to"),
        ("earliest", "5", "value"),
        ("offset", "", "value"),
        ("offset", "-1", "value"),
        ("offset", "²", "value"),
        ("offset", "9" * 19, "value"),
        ("offset", "9" * 5000, "value"),
        ("timestamp", "", "value"),
        ("timestamp", "yesterday", "value"),
        ("timestamp", f"{'9' * 30}d-ago", "value"),
    ],
)
def test_what_is_no_place_is_told_at_its_field(to: str, value: str, field: str) -> None:
    """Nothing is guessed, however odd it is."""
    assert list(reset(to, value).errors) == [field]


def test_some_partitions_and_buckets_may_be_meant() -> None:
    """Empty fields mean all of them."""
    found = reset("latest", partition=" 2026 ", buckets="0, 3")
    assert (found.partitions, found.buckets) == (["2026"], [0, 3])
    assert (reset("latest").partitions, reset("latest").buckets) == (None, None)
    for text in ("a", "1,,2", "-1", ",".join(["1"] * 1001)):
        assert list(reset("latest", buckets=text).errors) == ["buckets"]


def test_a_group_and_a_table_must_be_named() -> None:
    """Both are told at once."""
    assert set(reset("latest", group=" ", table="").errors) == {"group", "table"}
