"""Which tables a pattern names."""

from __future__ import annotations

import pytest

from lakeward.capture.port import TableId
from lakeward.pipelines.patterns import TablePattern


@pytest.mark.parametrize(
    ("pattern", "table", "named"),
    [
        ("shop.orders", "shop.orders", True),
        ("shop.orders", "shop.orders2", False),
        (r"shop.\.*", "shop.anything", True),
        (r"shop.order_\.*", "shop.order_2026", True),
        (r"app_[0-9]+.order_[0-9]{1,2}", "app_12.order_7", True),
        (r"app_[0-9]+.order_[0-9]{1,2}", "app_x.order_7", False),
        (r"db.public.\.*", "public.t", True),
    ],
)
def test_a_pattern_names_whole_names(pattern: str, table: str, named: bool) -> None:
    """A plain dot is between database and table, an escaped one is of the expression."""
    space, _, name = table.partition(".")
    assert TablePattern.parse(pattern).matches(TableId(space, name)) is named


def test_a_list_is_cut_at_commas_outside_of_brackets() -> None:
    """`{1,2}` is no comma between tables."""
    found = TablePattern.parse_list(r"shop.a{1,2}, shop.\.*,")
    assert [one.text for one in found] == ["shop.a{1,2}", r"shop.\.*"]


@pytest.mark.parametrize("text", ["shop", "shop.", "a.b.c.d", "shop.(", "", "shop." + "x" * 2000])
def test_what_names_no_tables_says_so(text: str) -> None:
    """One part, four parts, a broken expression, nothing at all."""
    with pytest.raises(ValueError, match=r"name|regular|long"):
        TablePattern.parse_list(text)
