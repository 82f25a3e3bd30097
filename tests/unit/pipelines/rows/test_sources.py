"""Rows of sources."""

from __future__ import annotations

from lakeward.pipelines.rows.sources import SOURCES


def test_each_source_has_its_own_port() -> None:
    """The one that its database has by default."""
    assert {name: part.options.rows["port"].default for name, part in SOURCES.items()} == {
        "mysql": 3306,
        "mariadb": 3306,
        "postgres": 5432,
    }
    assert all(part.options.rows["password"].secret for part in SOURCES.values())
