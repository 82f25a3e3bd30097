"""Tables in other versions of Iceberg's format: read and written, or refused in a sentence that names the table."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lake_tables import Rounds, pyiceberg_table, read_by_duckdb, table_info
from pyiceberg.catalog.sql import SqlCatalog

from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.catalog_of import reader_of
from lakeward.lake.formats import lake_format
from lakeward.lake.port import LakePlace, Readable
from lakeward.model.table import TableInfo

#: Made by pyiceberg's models of these versions.
DATA = Path(__file__).parents[4] / "data" / "iceberg"
Opening = Callable[[dict[str, str]], None]
COLUMNS = {"id": "BIGINT", "name": "STRING"}
INFO = table_info(COLUMNS)
KEYED = table_info(COLUMNS, key="id")


def registered(warehouse: Path, text: str) -> dict[str, str]:
    """A warehouse whose table has this metadata, which another engine has put there; its properties."""
    metadata = warehouse / "orders.metadata.json"
    metadata.write_text(text)
    catalog = SqlCatalog("lakeward", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=str(warehouse))
    catalog.create_namespace("shop")
    with catalog.engine.begin() as connection:  # registering would read it
        connection.exec_driver_sql(
            "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) "
            f"VALUES ('lakeward', 'shop', 'orders', '{metadata}', 'TABLE')"
        )
    catalog.close()
    return {"warehouse": str(warehouse)}


def asking_for(info: TableInfo, version: str) -> TableInfo:
    """A table whose owner wants a version of the format."""
    wanted = {"iceberg.format-version": version}
    return replace(info, descriptor=replace(info.descriptor, custom_properties=wanted))


def quick(properties: dict[str, str]) -> None:
    """Open the table for a query, without pyiceberg."""
    reader_of(INFO, properties)


def loaded(properties: dict[str, str]) -> None:
    """Open the table by pyiceberg, as for a warehouse in a bucket."""
    table = lake_format("iceberg").catalog(properties).load(INFO.path)
    assert isinstance(table, Readable)
    table.reader(INFO)


def tiered(properties: dict[str, str]) -> None:
    """Open the table for tiering."""
    lake_format("iceberg").catalog(properties).ensure(INFO)


@pytest.mark.parametrize("way", [quick, loaded, tiered])
@pytest.mark.parametrize("version", [1, 2])
def test_versions_one_and_two_are_opened(version: int, way: Opening, tmp_path: Path) -> None:
    """Whoever made the table."""
    way(registered(tmp_path, (DATA / f"v{version}.metadata.json").read_text()))


@pytest.mark.parametrize("way", [quick, loaded, tiered])
@pytest.mark.parametrize("version", [3, 4])
def test_newer_versions_are_refused_in_a_sentence(version: int, way: Opening, tmp_path: Path) -> None:
    """Version 3 is real; of the next one nobody knows more than its number."""
    told = json.loads((DATA / "v3.metadata.json").read_text()) | {"format-version": version}
    with pytest.raises(LakewardError, match=rf"table shop\.orders .*version.*{version}") as refused:
        way(registered(tmp_path, json.dumps(told)))
    assert refused.value.code is ErrorCode.INVALID_TABLE
    assert refused.value.message.endswith(".")


@pytest.mark.parametrize("info", [INFO, KEYED], ids=["log", "primary key"])
@pytest.mark.parametrize("version", ["3", "4", "two"])
def test_a_version_that_is_not_written_is_refused_before_the_table_is_there(
    info: TableInfo, version: str, tmp_path: Path
) -> None:
    """By its property, and nothing is left behind."""
    with pytest.raises(LakewardError, match=rf"shop\.orders is in version {version} .*'iceberg.format-version'"):
        Rounds(lake_format("iceberg"), tmp_path, asking_for(info, version))
    assert not list(tmp_path.rglob("*.json"))


def test_version_one_holds_log_tables_and_no_deletes(tmp_path: Path) -> None:
    """A log table is written as before; a primary key table is refused, since version 1 has no deletes."""
    rounds = Rounds(lake_format("iceberg"), tmp_path, asking_for(INFO, "1"))
    rounds.round({LakePlace(0): [{"id": 1, "name": "x"}]})
    assert pyiceberg_table(tmp_path).metadata.format_version == 1
    assert [row["name"] for row in read_by_duckdb(tmp_path)] == ["x"]
    with pytest.raises(LakewardError, match=r"version 2 is written for primary key tables here: set its property"):
        Rounds(lake_format("iceberg"), tmp_path, asking_for(KEYED, "1"))
