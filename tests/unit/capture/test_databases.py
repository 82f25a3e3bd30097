"""Kinds of databases: their options, and the name of what a server keeps for a stream."""

from __future__ import annotations

import pytest

from lakeward.capture.databases import DatabaseKind
from lakeward.errors import LakewardError


@pytest.mark.parametrize("kind", list(DatabaseKind))
def test_a_kind_knows_its_own_options_and_those_of_every_stream(kind: DatabaseKind) -> None:
    """By the names of Flink CDC; those of Debezium are accepted."""
    options = kind.options()
    known = {"hostname", "port", "username", "password", "database-name", "table-name", "scan.startup.mode"}
    assert known | {"scan.incremental.snapshot.chunk.size"} <= options.rows.keys()
    assert options.rows["password"].secret
    assert options.is_open("debezium.snapshot.mode")


def test_a_slot_is_named_after_its_stream() -> None:
    """Unless it has a name; a MySQL has no slots."""
    kind = DatabaseKind.POSTGRES
    assert kind.options_of_stream("default.shop.orders", {})["slot.name"].startswith("lakeward_default_shop_orders")
    assert kind.options_of_stream("orders", {"slot.name": "mine"}) == {"slot.name": "mine"}
    assert DatabaseKind.MYSQL.options_of_stream("orders", {}) == {}


@pytest.mark.parametrize("kind", list(DatabaseKind))
def test_options_that_name_no_server_are_refused(kind: DatabaseKind) -> None:
    """When it is first asked for something."""
    with pytest.raises(LakewardError, match="needs"):
        kind.open({}).tables()
