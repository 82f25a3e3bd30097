"""Catalogs as a cluster of Apache Fluss tells of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import LakewardError
from lakeward.lake.iceberg.catalog import open_catalog
from lakeward.lake.iceberg.java_catalogs import python_catalog


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("jdbc:sqlite:/lake/catalog.db", "sqlite:////lake/catalog.db"),
        ("jdbc:sqlite:file:/lake/catalog.db?cache=shared", "sqlite:////lake/catalog.db"),
        ("jdbc:postgresql://host:5433/lake?ssl=false", "postgresql+psycopg://ada:p%40ss@host:5433/lake"),
        ("jdbc:mysql://host/lake", "mysql+pymysql://ada:p%40ss@host/lake"),
        ("sqlite:////lake/catalog.db", "sqlite:////lake/catalog.db"),
    ],
)
def test_a_database_is_found_by_jdbcs_name(uri: str, found: str) -> None:
    """With the name that Apache Fluss gives the catalog, and the login that Java's properties have."""
    made = python_catalog({"type": "jdbc", "uri": uri, "jdbc.user": "ada", "jdbc.password": "p@ss", "warehouse": "/w"})
    assert (made["type"], made["uri"], made["name"]) == ("sql", found, "fluss-iceberg-catalog")
    assert made["warehouse"] == "/w"


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"catalog-impl": "org.apache.iceberg.rest.RESTCatalog", "uri": "http://c"}, "rest"),
        ({"catalog-impl": "org.apache.iceberg.hadoop.HadoopCatalog", "warehouse": "/w"}, "hadoop"),
        ({"type": "rest", "uri": "http://c"}, "rest"),
    ],
)
def test_classes_of_java_have_short_names(given: dict[str, str], kind: str) -> None:
    """As pyiceberg and we call them."""
    made = python_catalog(given)
    assert made["type"] == kind
    assert "catalog-impl" not in made


def test_what_names_no_catalog_stays() -> None:
    """The warehouse is its own, then."""
    assert python_catalog({"warehouse": "/w"}) == {"warehouse": "/w"}


def test_a_catalog_of_folders_is_read_as_java_wrote_it(tmp_path: Path) -> None:
    """Numbered metadata under each table, and a hint."""
    from pyiceberg.schema import Schema

    made = open_catalog({"type": "hadoop", "warehouse": tmp_path.as_uri()})
    made.create_table(("shop", "orders"), Schema())
    names = {path.name for path in (tmp_path / "shop" / "orders" / "metadata").iterdir()}
    assert names == {"v1.metadata.json", "version-hint.text"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"type": "jdbc", "uri": "jdbc:oracle:thin:@host"}, "'oracle'"),
        ({"type": "hadoop"}, r"datalake\.iceberg\.warehouse"),
        ({"type": "nessie", "uri": "http://c"}, r"The lake's catalog \(nessie\) cannot be opened"),
        ({"catalog-impl": "com.example.Own", "uri": "x"}, r"The lake's catalog \(com\.example\.Own\) cannot be opened"),
    ],
)
def test_what_cannot_be_opened_is_told(given: dict[str, str], said: str) -> None:
    """With what would do."""
    with pytest.raises(LakewardError, match=said):
        open_catalog(given)
