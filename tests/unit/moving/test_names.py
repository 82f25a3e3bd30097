"""Which tables a copy means."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest

from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import LakewardError
from lakeward.moving.names import chosen_tables

_THERE = {"fluss": ["events"], "shop": ["customers", "orders"]}


class _Source:
    bootstrap = "laptop:9123"

    async def databases(self) -> list[str]:
        """All of them."""
        return list(_THERE)

    async def tables(self, database: str) -> list[str]:
        """Those of one."""
        return _THERE[database]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ([], ["fluss.events", "shop.customers", "shop.orders"]),
        (["shop."], ["shop.customers", "shop.orders"]),
        (["*.*"], ["fluss.events", "shop.customers", "shop.orders"]),
        (["shop.o*", "events", "shop.orders"], ["shop.orders", "fluss.events"]),
    ],
)
async def test_names_patterns_databases_and_all(asked: list[str], meant: list[str]) -> None:
    """Each table once, in the order they were asked for."""
    found = await chosen_tables(cast(AsyncConnection, cast(Any, _Source())), asked)
    assert [str(path) for path in found] == meant


@pytest.mark.parametrize(
    ("asked", "told"),
    [("shop.order", r"shop\.orders, shop\.customers …\.$"), ("zzz.*", r"fluss\.events, shop\.customers, ")],
)
async def test_a_name_that_fits_nothing_is_told(asked: str, told: str) -> None:
    """With the names that are near, or with what there is."""
    with pytest.raises(LakewardError, match=f"laptop:9123 has no table {re.escape(asked)}; it has {told}"):
        await chosen_tables(cast(AsyncConnection, cast(Any, _Source())), [asked])
