"""Rows of each type of catalog: what CREATE CATALOG … WITH (…) may say."""

from __future__ import annotations

from lakeward.options.client import CLIENT_OPTIONS
from lakeward.options.kinds import TEXT
from lakeward.options.option import OptionTable, Scope
from lakeward.options.spark import BOOTSTRAP_SERVERS as _SERVERS
from lakeward.options.spark import LAKE_PREFIX

TYPE = "type"

FLUSS = OptionTable(Scope.CATALOG)
BOOTSTRAP_SERVERS = FLUSS.row(_SERVERS.key, _SERVERS.kind, _SERVERS.default, _SERVERS.doc)
DEFAULT_DATABASE = FLUSS.row("default-database", TEXT, "fluss", "The database in use after USE CATALOG.")
FLUSS.adopt(CLIENT_OPTIONS, without={_SERVERS.key})
FLUSS.open_prefix(
    LAKE_PREFIX, "Properties of the lake's catalog, by the names of its library; they win over those of its tables."
)

MEMORY = OptionTable(Scope.CATALOG)
MEMORY_DATABASE = MEMORY.row("default-database", TEXT, "default", "The database in use after USE CATALOG.")

LAKE = OptionTable(Scope.CATALOG)
LAKE.optional("warehouse", TEXT, "Where the lake is: a directory, or `s3://bucket/folder`.")
LAKE.optional(
    "catalog-type", TEXT, "The kind of Iceberg's catalog (`rest`, `sql`, …); without it, that of the warehouse itself."
)
LAKE_DATABASE = LAKE.row("default-database", TEXT, "default", "The database in use after USE CATALOG.")
LAKE.open_prefix(
    "", "Any other property of the lake's catalog or of its store (`uri`, `s3.endpoint`, …), by the names of tiering."
)
