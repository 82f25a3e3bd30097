"""Namespaces and tables by their names in URLs."""

from __future__ import annotations

import pytest

from lakeward.rest.protocol.failures import RestError
from lakeward.rest.protocol.names import Namespace, TableName, namespace_of, table_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("shop", Namespace("shop")),
        ("now", Namespace(None, is_now=True)),
        ("now\x1fshop", Namespace("shop", is_now=True)),
        ("now.shop", Namespace("shop", is_now=True)),
    ],
)
def test_a_namespace_is_a_database_or_one_below_now(text: str, found: Namespace) -> None:
    """Whatever parts are joined by."""
    assert namespace_of(text) == found


@pytest.mark.parametrize("text", ["", "a\x1fb", "now\x1fshop\x1forders", "now\x1f", "a.b.c"])
def test_other_namespaces_are_not_there(text: str) -> None:
    """They are told as the protocol tells it."""
    with pytest.raises(RestError) as wrong:
        namespace_of(text)
    assert (wrong.value.status, wrong.value.kind) == (404, "NoSuchNamespaceException")


def test_a_table_is_as_it_is_now_by_its_own_name_or_by_that_of_its_namespace() -> None:
    """`orders$now` in `shop`, `orders` in `now.shop`."""
    assert table_of(Namespace("shop"), "orders") == TableName("shop", "orders", is_now=False)
    assert table_of(Namespace("shop"), "orders$now") == TableName("shop", "orders", is_now=True)
    assert table_of(Namespace("shop", is_now=True), "orders") == TableName("shop", "orders", is_now=True)
    with pytest.raises(RestError):
        table_of(Namespace(None, is_now=True), "orders")
