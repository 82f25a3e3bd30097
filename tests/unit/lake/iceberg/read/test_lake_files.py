"""The catalog of a local warehouse, read without pyiceberg."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from lakeward.lake.iceberg.read.lake_files import CATALOG_FILE, metadata_location
from lakeward.model.table import TablePath


def test_a_catalog_that_is_just_being_made_has_no_tables_yet(tmp_path: Path) -> None:
    """Who asks between the making of the file and that of its first table is told that there is nothing."""
    sqlite3.connect(tmp_path / CATALOG_FILE).close()
    (tmp_path / CATALOG_FILE).touch()
    assert metadata_location(tmp_path, {}, TablePath("db", "t")) is None
