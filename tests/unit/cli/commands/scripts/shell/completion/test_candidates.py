"""What Tab offers, at every kind of place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lakeward.cli.commands.scripts.shell.completion.candidates import candidates
from lakeward.cli.commands.scripts.shell.completion.known_names import KnownNames
from lakeward.cli.commands.scripts.shell.completion.position import position_at
from lakeward.options.kinds import TEXT, choice
from lakeward.options.option import OptionTable, Scope

_TABLES = {"orders": ("id", "item", "customer"), "customers": ("id", "name", "odd name")}


class _Names(KnownNames):
    """What a script could know."""

    def __init__(self) -> None:
        self._options = OptionTable(Scope.CONNECTOR)
        self._options.row("scan.startup.mode", choice("full", "earliest", "latest"), "full", "Where to begin.")
        self._options.optional("bootstrap.servers", TEXT, "Where it is.")
        self._settings = OptionTable(Scope.SCRIPT)
        self._settings.row("execution.runtime-mode", choice("streaming", "batch"), "batch", "How.")
        self._settings.switch("table.dml-sync", "Whether.")

    def catalogs(self) -> Sequence[str]:
        return ["default_catalog", "lake"]

    def databases(self, catalog: str | None = None) -> Sequence[str]:
        return ["bronze", "silver"] if catalog == "lake" else ["shop", "default_database"]

    def tables(self, path: tuple[str, ...] = ()) -> Sequence[str]:
        return {(): list(_TABLES), ("shop",): ["carts"], ("lake", "bronze"): ["raw"]}.get(path, [])

    def columns(self, table: tuple[str, ...]) -> Sequence[str]:
        return _TABLES.get(table[-1], ())

    def jobs(self) -> Sequence[str]:
        return ["totals-1f2e"]

    def settings(self) -> OptionTable:
        return self._settings

    def connectors(self) -> Sequence[str]:
        return ["datagen", "fluss", "filesystem"]

    def catalog_types(self) -> Sequence[str]:
        return ["fluss", "generic_in_memory"]

    def options_of_connector(self, name: str) -> OptionTable | None:
        return self._options if name == "fluss" else None

    def options_of_catalog(self, kind: str) -> OptionTable | None:
        return self._options

    def connector_of(self, table: tuple[str, ...]) -> str:
        return "fluss"


def offered(text: str) -> list[str]:
    """What Tab offers where | stands."""
    before, _, after = text.partition("|")
    return [found.text for found in candidates(position_at(before + after, len(before)), _Names())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SEL|", ["SELECT"]),
        ("sel|", ["select"]),
        ("SELECT 1; ins|", ["insert into", "insert overwrite"]),
        ("SHOW ca|", ["catalogs"]),
        ("USE CATALOG l|", ["lake"]),
        ("SHOW TABLES FROM s|", ["shop"]),
        ("STOP JOB |", ["`totals-1f2e`"]),
        ("SELECT * FROM ord|", ["orders"]),
        ("SELECT * FROM orders o JOIN cust|", ["customers"]),
        ("SELECT * FROM lake.|", ["bronze", "silver"]),
        ("SELECT * FROM lake.bronze.|", ["raw"]),
        ("SELECT * FROM shop.c|", ["carts"]),
        ("INSERT INTO c|", ["customers"]),
        ("DESCRIBE o|", ["orders"]),
        ("SELECT o.| FROM orders AS o", ["id", "item", "customer"]),
        ("SELECT c.n| FROM orders o, customers c", ["name"]),
        ("SELECT c.`o| FROM customers c", ["odd name`"]),
        ("SELECT cust| FROM orders", ["customer"]),
        ("SELECT customers.i|, 1 FROM shop.customers WHERE x = 'it''s; fine'", ["id"]),
        ("SELECT c.na| FROM orders AS o JOIN customers FOR SYSTEM_TIME AS OF o.at AS c ON c.id = o.id", ["name"]),
        ("SET 'exec|", ["execution.runtime-mode'"]),
        ("SET 'execution.runtime-mode' = 's|", ["streaming'"]),
        ("SET 'table.dml-sync' = '|", ["true'", "false'"]),
        ("CREATE TABLE t (id BIGINT) WITH ('conn|", ["connector'"]),
        ("CREATE TABLE t (id BIGINT) WITH ('connector' = 'f|", ["fluss'", "filesystem'"]),
        ("CREATE TABLE t (id BIGINT) WITH ('connector' = 'fluss', 'sc|", ["scan.startup.mode'"]),
        ("CREATE TABLE t (id BIGINT) WITH ('connector' = 'fluss', 'scan.startup.mode' = 'e|", ["earliest'"]),
        ("CREATE CATALOG c WITH ('type' = 'g|", ["generic_in_memory'"]),
        ("SELECT * FROM orders /*+ OPTIONS('scan|", ["scan.startup.mode'"]),
        ("SELECT 'it is |", []),
        ("SELECT 1 -- sel|", []),
        ("SELECT /* sel|", []),
        ("CREATE TABLE o|", []),
    ],
)
def test_what_is_offered(text: str, expected: list[str]) -> None:
    """Names where names are expected, keys and values in quotes, nothing inside texts and comments."""
    assert offered(text) == expected


def test_functions_are_offered_with_their_bracket() -> None:
    """In the case that is typed, after columns and before keywords."""
    assert "tumble_start(" not in offered("SELECT coale|")
    assert offered("SELECT coale|") == ["coalesce("]
    assert offered("SELECT COALE|") == ["COALESCE("]
