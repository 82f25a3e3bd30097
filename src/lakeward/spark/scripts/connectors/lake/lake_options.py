"""Rows of the connectors `iceberg` and `paimon`."""

from __future__ import annotations

from dataclasses import replace

from lakeward.language.statements.statement import Options
from lakeward.options.kinds import TEXT
from lakeward.options.option import OptionTable, Scope
from lakeward.options.spark import AS_OF, SNAPSHOT_ID, TAG
from lakeward.spark.scripts.connectors.registry import CONNECTOR

LAKE_OPTIONS = OptionTable(Scope.CONNECTOR)
TABLE_NAME = LAKE_OPTIONS.optional(
    "table.name", TEXT, "The table in the lake, `db.table`; without it the table has the name that the script gives it."
)
LAKE_OPTIONS.optional("warehouse", TEXT, "Where the lake is: a directory, or `s3://bucket/folder`.")
CATALOG_TYPE = LAKE_OPTIONS.optional(
    "catalog-type", TEXT, "The kind of Iceberg's catalog (`rest`, `sql`, …); without it, that of the warehouse itself."
)
for _row in (SNAPSHOT_ID, TAG, AS_OF):
    LAKE_OPTIONS.rows[_row.key] = replace(_row, scope=Scope.CONNECTOR)
LAKE_OPTIONS.open_prefix(
    "", "Any other property of the lake's catalog or of its store (`uri`, `s3.endpoint`, …), by the names of tiering."
)

_NOT_OF_THE_LAKE = {CONNECTOR, TABLE_NAME.key, CATALOG_TYPE.key, SNAPSHOT_ID.key, TAG.key, AS_OF.key}
#: A directory of tables is what there is without a catalog.
_OF_DIRECTORIES = {"hadoop", "filesystem"}


def lake_properties(options: Options) -> dict[str, str]:
    """The properties of the lake's catalog, as tiering knows them."""
    found = {key: value for key, value in options.items() if key not in _NOT_OF_THE_LAKE}
    kind = CATALOG_TYPE.read(options)
    return found if kind is None or kind in _OF_DIRECTORIES else {**found, "type": kind}
