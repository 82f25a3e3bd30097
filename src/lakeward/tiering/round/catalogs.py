"""Which lake catalog a table belongs to: as the service was told, else as the cluster says of the table."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.lake.catalog_of import catalog_of, lake_properties
from lakeward.lake.home import place_in
from lakeward.lake.port import LakeCatalog
from lakeward.model.table import TableInfo


class LakeCatalogs:
    """Catalogs, opened when a table first needs them."""

    def __init__(self, given: Mapping[str, str]) -> None:
        """`given` are properties for every catalog, by pyiceberg's or pypaimon's names; they win over the cluster's."""
        self.given = dict(given)

    def of(self, info: TableInfo) -> LakeCatalog:
        """The catalog of a table."""
        return catalog_of(info, self.given)

    def place_of(self, info: TableInfo) -> str | None:
        """Where that is, as it is remembered; None when it has no name."""
        return place_in(lake_properties(info, self.given))
