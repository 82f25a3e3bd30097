"""Options of a PostgreSQL source, names of slots."""

from __future__ import annotations

import re

import pytest

from lakeward.capture.port import TableId
from lakeward.capture.postgres.postgres_settings import PostgresSettings, slot_name_of
from lakeward.errors import InvalidError

NEEDED = {"hostname": "h", "username": "u", "password": "s3cr3t", "database-name": "shop"}


@pytest.mark.parametrize(
    ("options", "captured", "left_out"),
    [
        ({"table-name": "orders"}, ["public.orders"], ["public.orders2", "sales.orders"]),
        ({"table-name": "o.*", "schema-name": "a,b"}, ["a.orders", "b.o"], ["public.orders"]),
        ({"tables": r"sales.\.*, public.users"}, ["sales.x", "public.users"], ["public.x", "pg_catalog.users"]),
        ({"tables": r"shop.sales.orders"}, ["sales.orders"], ["shop.sales"]),
        ({"tables": r"\.*.\.*", "tables.exclude": r"\.*.tmp_\.*"}, ["a.b"], ["a.tmp_x", "information_schema.b"]),
    ],
)
def test_tables_are_named_by_patterns(options: dict[str, str], captured: list[str], left_out: list[str]) -> None:
    """The whole name must match; what belongs to the server itself is never meant."""
    settings = PostgresSettings.of(NEEDED | options)
    assert all(settings.is_captured(TableId(*name.split("."))) for name in captured)
    assert not any(settings.is_captured(TableId(*name.split("."))) for name in left_out)


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        ({"hostname": ""}, "needs the option 'hostname'"),
        ({"database-name": ""}, "needs the option 'database-name'"),
        ({}, "either 'tables', or 'table-name'"),
        ({"tables": "a.b", "table-name": "c"}, "either 'tables', or 'table-name'"),
        ({"tables": "orders"}, "not a schema and a table"),
        ({"table-name": "("}, "not a regular expression"),
        ({"table-name": "t", "slot.name": "Big"}, "lower-case letters"),
        ({"table-name": "t", "decoding.plugin.name": "wal2json"}, "pgoutput"),
    ],
)
def test_what_is_missing_or_wrong_is_said(options: dict[str, str], pattern: str) -> None:
    """By the name of the option."""
    with pytest.raises(InvalidError, match=re.escape(pattern)):
        PostgresSettings.of(NEEDED | options)


def test_nobody_is_told_the_password() -> None:
    """Not by repr."""
    assert "s3cr3t" not in repr(PostgresSettings.of(NEEDED | {"table-name": "t"}))


def test_names_of_slots() -> None:
    """Any name makes one that PostgreSQL takes, and no two names the same."""
    assert slot_name_of("orders_1") == "lakeward_orders_1"
    names = ["a-b", "a_b", "A_b", "a b", "ä", "", "x" * 80, "x" * 81, "a_b_"]
    slots = [slot_name_of(name) for name in names]
    assert len(set(slots)) == len(names)
    assert all(re.fullmatch("[a-z0-9_]{1,63}", slot) for slot in slots)
