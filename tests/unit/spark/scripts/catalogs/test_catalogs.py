"""CREATE CATALOG: types, options, and what is there already."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.spark.scripts.catalogs.catalogs import Catalogs
from lakeward.spark.scripts.connectors.port import Surroundings
from lakeward.spark.scripts.connectors.registry import Connectors


@pytest.fixture
def catalogs() -> Catalogs:
    """Those of a script that has just begun."""
    return Catalogs(Surroundings(), Connectors(Surroundings()))


def test_the_default_catalog_can_be_made_again(catalogs: Catalogs) -> None:
    """As guides do it."""
    before = catalogs.catalog("default_catalog")
    assert catalogs.create("default_catalog", {"type": "generic_in_memory"}) is before
    assert catalogs.names() == ["default_catalog"]


def test_a_catalog_is_made_once(catalogs: Catalogs) -> None:
    """Unless it may be there, or is dropped before."""
    made = catalogs.create("c", {"type": "fluss", "bootstrap.servers": "nowhere:1", "default-database": "shop"})
    assert (made.kind, made.default_database) == ("fluss", "shop")
    with pytest.raises(LakewardError, match="is there already"):
        catalogs.create("c", {"type": "fluss"})
    assert catalogs.create("c", {"type": "fluss"}, exist_ok=True) is made
    catalogs.drop("c")
    assert not catalogs.has("c")
    catalogs.drop("c", missing_ok=True)
    with pytest.raises(LakewardError, match="There is no catalog 'c'"):
        catalogs.drop("c")
    with pytest.raises(LakewardError, match="always there"):
        catalogs.drop("default_catalog")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "The catalog 'c' has no 'type'; there are fluss, generic_in_memory"),
        ({"type": "flus"}, "did you mean 'fluss'?"),
        ({"type": "paimon"}, "set 'warehouse' to a directory"),
        ({"type": "hive"}, "There is no type of catalog 'hive'; There are fluss"),
        ({"type": "fluss", "bootstrap.server": "x"}, "The nearest known name is 'bootstrap.servers'"),
        ({"type": "fluss", "client.request-timeout": "soon"}, "client.request-timeout"),
    ],
)
def test_what_is_wrong_is_named(catalogs: Catalogs, options: dict[str, str], why: str) -> None:
    """With what there is."""
    with pytest.raises(LakewardError) as wrong:
        catalogs.create("c", options)
    assert why in str(wrong.value)


def test_sparks_settings_have_the_cluster(catalogs: Catalogs) -> None:
    """And the options of the client."""
    made = catalogs.create("c", {"type": "fluss", "bootstrap.servers": "h:1", "client.request-timeout": "5 s"})
    assert made.spark_settings == {
        "spark.sql.catalog.c": "io.lakeward.spark.FlussCatalog",
        "spark.sql.catalog.c.bootstrap.servers": "h:1",
        "spark.sql.catalog.c.client.request-timeout": "5 s",
    }
