"""Settings made of options."""

from __future__ import annotations

import pytest

from lakeward.capture.mysql.mysql_options import MYSQL_OPTIONS
from lakeward.capture.mysql.mysql_settings import MysqlSettings
from lakeward.capture.port import TableId
from lakeward.errors import InvalidError

BASE = {"hostname": "db", "username": "u", "password": "s3cret"}


@pytest.mark.parametrize(
    ("options", "names", "others"),
    [
        ({"tables": r"shop.\.*"}, ["shop.orders", "shop.x"], ["shop2.orders", "other.shop"]),
        ({"tables": r"shop.orders, s\.*_[0-9]+.u\.+"}, ["shop.orders", "s_a_12.users"], ["shop.orders2", "s_a.users"]),
        ({"tables": r"shop.\.*", "tables.exclude": "shop.tmp_[0-9]"}, ["shop.tmp_"], ["shop.tmp_1"]),
        ({"database-name": "shop", "table-name": "orders"}, ["shop.orders"], ["shop.orders2"]),
        ({"database-name": "shop_[12]", "table-name": "o.*"}, ["shop_1.orders"], ["shop_3.orders", "shop_1.users"]),
        ({"database-name": "shop", "table-name": r"shop\.orders"}, ["shop.orders"], ["shop.users"]),
        ({"database-name": ".*", "table-name": ".*"}, ["any.thing"], ["mysql.user", "information_schema.tables"]),
    ],
)
def test_tables_are_named_by_patterns(options: dict[str, str], names: list[str], others: list[str]) -> None:
    """As Flink CDC takes them; the server's own databases are never meant."""
    settings = MysqlSettings.of({**BASE, **options})
    assert [name for name in names + others if settings.is_captured(TableId(*name.split(".", 1)))] == names


def test_a_password_is_in_no_text() -> None:
    """Not in the repr, and its option is secret."""
    settings = MysqlSettings.of({**BASE, "tables": "a.b"})
    assert "s3cret" not in f"{settings!r} {settings}"
    assert MYSQL_OPTIONS.rows["password"].secret


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hostname": ""}, "needs the option 'hostname'"),
        ({}, "either 'tables', or 'database-name'"),
        ({"tables": "orders"}, "not a database and a table with a dot"),
        ({"tables": "a.(b"}, "not a regular expression"),
        ({"tables": "a.b", "server-id": "9-3"}, "neither a number nor a range"),
        ({"tables": "a.b", "server-time-zone": "Mars/Base"}, "not a time zone"),
    ],
)
def test_a_mistake_is_said(options: dict[str, str], said: str) -> None:
    """Which option, and what it may be."""
    with pytest.raises(InvalidError) as wrong:
        MysqlSettings.of({**BASE, **options})
    assert said in wrong.value.message
