"""What a person may have meant."""

from __future__ import annotations

import pytest

from lakeward.cli.input.near_names import nearest, nearest_table

_TABLES = ["shop.big", "shop.orders", "shop.people", "store.orders", "web.clicks"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("shop.ordrs", "shop.orders"),
        ("shop.peple", "shop.people"),
        ("shop.Orders", "shop.orders"),
        ("shp.orders", "shop.orders"),
        ("fluss.clicks", "web.clicks"),
        ("shop.clcks", None),
        ("shop.zzz", None),
    ],
)
def test_database_and_table_are_compared_each_for_itself(name: str, meant: str | None) -> None:
    """A long database makes no tables alike; the same table elsewhere is worth a word."""
    assert nearest_table(name, _TABLES) == meant
    assert nearest_table(name, []) is None


def test_a_noun_is_meant_in_its_plural() -> None:
    """`lakeward table list` is about tables, though `tablet` is one letter away as well."""
    assert nearest("table", ["tablet", "tables"]) == "tables"
