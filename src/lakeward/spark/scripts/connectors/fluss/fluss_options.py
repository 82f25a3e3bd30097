"""Rows of the connector `fluss`, and the options of a table by what they are for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from lakeward.errors import ErrorCode
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.table import TablePath
from lakeward.options.client import CLIENT_OPTIONS
from lakeward.options.kinds import COUNT, LIST, TEXT
from lakeward.options.option import OptionTable, Scope
from lakeward.options.spark import (
    BOOTSTRAP_SERVERS,
    CLIENT_PREFIX,
    LAKE_PREFIX,
    LOOKUP_CACHE_ROWS,
    LOOKUP_CACHE_TTL,
    SPARK_OPTIONS,
    TABLE,
    connector_options,
)
from lakeward.options.table import BUCKET_COUNT_ALIAS, TABLE_OPTIONS
from lakeward.options.tiering import TIERING_OPTIONS
from lakeward.query.request.views import View, parse_name
from lakeward.spark.scripts.connectors.port import Surroundings
from lakeward.spark.scripts.connectors.registry import CONNECTOR
from lakeward.spark.table.property_names import BUCKET_KEY as BUCKET_KEY_NAME

DEFAULT_DATABASE = "fluss"
FLUSS_OPTIONS = OptionTable(Scope.CONNECTOR)

TABLE_NAME = FLUSS_OPTIONS.optional(
    "table.name",
    TEXT,
    "The table on the cluster, `table` or `db.table`; without it the table has the name that the script gives it.",
)
DATABASE = FLUSS_OPTIONS.optional(
    "database",
    TEXT,
    "The database on the cluster, where `table.name` names none: by itself the one of the same name as in the script, "
    f"for the catalog's default one `{DEFAULT_DATABASE}`; made if absent.",
)
BUCKET_COUNT = FLUSS_OPTIONS.optional(
    BUCKET_COUNT_ALIAS, COUNT, "How many buckets the table, or each of its partitions, has; as INTO n BUCKETS."
)
BUCKET_KEY = FLUSS_OPTIONS.optional(
    BUCKET_KEY_NAME, LIST, "The columns by which rows are spread over buckets; as DISTRIBUTED BY (…)."
)
SINK_IGNORE_DELETE = FLUSS_OPTIONS.switch("sink.ignore-delete", "Whether deletes are left out when rows are written.")
AUTO_INCREMENT = FLUSS_OPTIONS.optional(
    "auto-increment.fields", LIST, "The column that the cluster numbers by itself, in a new table with a primary key."
)
FLUSS_OPTIONS.adopt(SPARK_OPTIONS, without={TABLE.key})
FLUSS_OPTIONS.adopt(TABLE_OPTIONS)
FLUSS_OPTIONS.adopt(TIERING_OPTIONS)
FLUSS_OPTIONS.adopt(CLIENT_OPTIONS, without={BOOTSTRAP_SERVERS.key})
FLUSS_OPTIONS.alias("lookup.partial-cache.max-rows", LOOKUP_CACHE_ROWS)
FLUSS_OPTIONS.alias("lookup.partial-cache.expire-after-write", LOOKUP_CACHE_TTL)
for _inert in (
    *("scan.parallelism", "sink.parallelism", "scan.partition.discovery.interval", "scan.kv.snapshot.lease.id"),
    *("scan.kv.snapshot.lease.duration", "sink.bucket-shuffle", "sink.distribution-mode"),
    *("lookup.async", "lookup.cache", "lookup.max-retries", "lookup.insert-if-not-exists"),
    *("lookup.partial-cache.expire-after-access", "lookup.partial-cache.cache-missing-key"),
):
    FLUSS_OPTIONS.inert(_inert)
FLUSS_OPTIONS.open_prefix(
    LAKE_PREFIX, "Properties of the lake's catalog, by the names of its library; they win over the table's own."
)
FLUSS_OPTIONS.open_prefix("log.", "Settings of other logs that have no counterpart here: without effect, and told.")
for _prefix in ("paimon.", "iceberg."):
    FLUSS_OPTIONS.open_prefix(_prefix, "Kept with the table, for the lake's table of this format.")
FLUSS_OPTIONS.open_prefix("table.datalake.", "Kept with the table, for the lake's catalog.")


@dataclass(frozen=True, slots=True)
class FlussOptions:
    """Where a table is, and how it is read, written and made."""

    bootstrap: str
    path: TablePath
    view: View
    """What of the table is read: its rows, or by a name such as `t$changelog` something else."""
    client: dict[str, str]
    """`client.*`, for the connection."""
    reading: dict[str, str]
    """Those of the Spark connector, for reads, writes and lookups."""
    properties: dict[str, str]
    """Those of the table itself, as they were written."""

    @classmethod
    def of(cls, table: TableDefinition, surroundings: Surroundings) -> Self:
        """What a table's options say; its servers are the script's unless it names some."""
        client: dict[str, str] = {}
        reading: dict[str, str] = {}
        properties: dict[str, str] = {}
        for given, text in table.options.items():
            key, value = FLUSS_OPTIONS.canonical(given, text)
            if key == CONNECTOR or key in _NOT_OF_THE_TABLE or key in _INERT:
                continue
            if key.startswith(CLIENT_PREFIX):
                client[key] = value
            elif key in SPARK_OPTIONS.rows or key.startswith(LAKE_PREFIX):
                _put(reading, key, value)
            else:
                properties[given] = text
        bootstrap = reading.pop(BOOTSTRAP_SERVERS.key, None)
        if bootstrap is None:
            client = {**surroundings.client_options, **client}
        connector_options(reading)
        path, view = parse_name(TABLE_NAME.read(table.options) or table.name, _database(table))
        return cls(bootstrap or surroundings.bootstrap_servers, path, view, client, reading, properties)

    @property
    def connection(self) -> dict[str, str]:
        """What `lakeward.spark.table.connections` asks for."""
        return {BOOTSTRAP_SERVERS.key: self.bootstrap, **self.client}


#: What the default databases of catalogs in memory are called.
_DEFAULTS_IN_MEMORY = ("default_database", "default")
_NOT_OF_THE_TABLE = {TABLE_NAME.key, DATABASE.key, BUCKET_COUNT.key, BUCKET_KEY.key}
_NOT_OF_THE_TABLE |= {SINK_IGNORE_DELETE.key, AUTO_INCREMENT.key}
_INERT = {row.key for row in FLUSS_OPTIONS if row.inert}


def _put(options: dict[str, str], key: str, value: str) -> None:
    if options.setdefault(key, value) != value:
        raise ErrorCode.INVALID_CONFIG.error(f"The option '{key}' is given twice, with different values.")


def _database(table: TableDefinition) -> str:
    own = DEFAULT_DATABASE if table.database in _DEFAULTS_IN_MEMORY else table.database
    return DATABASE.read(table.options) or own
