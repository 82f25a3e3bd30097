"""FlussCatalog: the databases and tables of a cluster. What is made here is there for other scripts, and for Flink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lakeward.client.blocking.sync import Connection
from lakeward.errors import AlreadyExistsError, ErrorCode, LakewardError, NotFoundError
from lakeward.language.statements.create_table import PhysicalColumn
from lakeward.language.statements.define import AddColumns, RenameTable, ResetOptions, SetOptions, TableChange
from lakeward.language.statements.statement import Options
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.table import TableInfo, TablePath
from lakeward.options.secrets import is_of_secret
from lakeward.options.spark import CLIENT_PREFIX, LAKE_PREFIX, SPARK_OPTIONS, is_secret
from lakeward.query.request.views import View, check_view, parse_name, view_schema
from lakeward.spark.catalog.replacing import create, rename
from lakeward.spark.scripts.catalogs.catalog_options import BOOTSTRAP_SERVERS, DEFAULT_DATABASE
from lakeward.spark.scripts.catalogs.differences import generated_differences
from lakeward.spark.scripts.catalogs.memory_catalog import changed_definition
from lakeward.spark.scripts.catalogs.port import DatabaseDefinition, Made
from lakeward.spark.scripts.catalogs.schema_properties import (
    SCHEMA_PREFIXES,
    schema_properties,
    with_schema_properties,
)
from lakeward.spark.scripts.connectors.fluss.fluss_connector import FlussConnector
from lakeward.spark.scripts.connectors.fluss.fluss_options import (
    BUCKET_COUNT,
    BUCKET_KEY,
    DATABASE,
    FLUSS_OPTIONS,
    SINK_IGNORE_DELETE,
    TABLE_NAME,
)
from lakeward.spark.scripts.connectors.fluss.fluss_source import check_metadata
from lakeward.spark.scripts.connectors.fluss.new_table import ClusterLimits, check_same, new_table, not_the_same
from lakeward.spark.scripts.connectors.fluss.table_changes import alter, is_known
from lakeward.spark.scripts.connectors.port import Surroundings
from lakeward.spark.scripts.connectors.registry import CONNECTOR, check_options
from lakeward.spark.setup.spark_session import catalog_settings
from lakeward.spark.table.connections import connection

KIND = "fluss"
_PLACE = {TABLE_NAME.key, DATABASE.key, BOOTSTRAP_SERVERS.key}


def is_of_catalog(key: str, value: str) -> bool:
    """Whether an option of a table is the catalog's to say: where the table is, and how the cluster is reached."""
    return key in _PLACE or (key, value) == (CONNECTOR, KIND) or key.startswith((CLIENT_PREFIX, LAKE_PREFIX))


class FlussCatalog:
    """A cluster, seen as a catalog."""

    kind = KIND

    def __init__(self, name: str, options: Options, surroundings: Surroundings) -> None:
        self.name = name
        self.default_database = DEFAULT_DATABASE.read(options)
        own = options.get(BOOTSTRAP_SERVERS.key)
        told = {**({} if own else surroundings.client_options), **options}
        self._bootstrap = own or surroundings.bootstrap_servers
        self._client = {key: value for key, value in told.items() if key.startswith(CLIENT_PREFIX)}
        self._lake = {key: value for key, value in options.items() if key.startswith(LAKE_PREFIX)}
        self._connector = FlussConnector(surroundings)

    @property
    def spark_settings(self) -> Mapping[str, str]:
        """The cluster as a catalog of Spark's, under the same name."""
        head = f"spark.sql.catalog.{self.name}"
        told = {f"{head}.{key}": value for key, value in self._client.items()}
        return {**catalog_settings(self._bootstrap, self.name), **told}

    def databases(self) -> list[str]:
        """Their names, sorted."""
        return self._conn.databases()

    def database(self, name: str) -> DatabaseDefinition | None:
        """A database; None if there is none."""
        try:
            found = self._conn.database(name)
        except NotFoundError:
            return None
        return DatabaseDefinition(found.comment, dict(found.properties))

    def create_database(self, name: str, comment: str | None, options: Options) -> Made:
        """Make a database on the cluster; one that is there is no error."""
        try:
            self._conn.create_database(name, comment=comment, properties=dict(options))
        except AlreadyExistsError:
            return Made(is_new=False)
        return Made(is_new=True)

    def drop_database(self, name: str, *, if_exists: bool, is_cascade: bool) -> None:
        """Drop a database, and by CASCADE its tables with their rows."""
        self._conn.drop_database(name, cascade=is_cascade, missing_ok=if_exists)

    def tables(self, database: str) -> list[str]:
        """The names of a database's tables, sorted."""
        return self._conn.tables(database)

    def definition(self, database: str, name: str) -> TableDefinition | None:
        """A table, or its `$changelog`, `$binlog` or `$lake`, as the cluster has it now."""
        path, view = parse_name(f"{database}.{name}")
        try:
            info = self._conn.table(str(path)).info
        except NotFoundError:
            return None
        check_view(info, view)
        return self._definition(info) if view is View.ROWS else self._view(info, view, name)

    def create_table(self, table: TableDefinition) -> Made:
        """Make a table on the cluster; watermark and computed columns are kept with it."""
        connector = table.options.get(CONNECTOR, KIND)
        if connector != KIND:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table}: the catalog '{self.name}' has tables of a cluster, and '{CONNECTOR}' is '{connector}'."
                " Create it in default_catalog, or as a TEMPORARY TABLE."
            )
        for key in (TABLE_NAME.key, BOOTSTRAP_SERVERS.key):
            if key in table.options:
                raise self._said_by_catalog(table, key)
        check_options(self._connector, table.options, f"Table {table}")
        check_metadata(table)
        options = self._connector.options_of(table)
        secrets = [key for key in options.reading if is_secret(key) or is_of_secret(key)]
        if secrets:
            raise self._open_secret(table, secrets[0])
        kept = {key: table.options[key] for key in (SINK_IGNORE_DELETE.key,) if key in table.options}
        extra = {**options.reading, **kept, **schema_properties(table)}
        wanted = new_table(table, options.properties, ClusterLimits.of(self._conn), extra)
        try:
            create(self._conn, TablePath(table.database, table.name), wanted.descriptor)
        except AlreadyExistsError:
            found = self._conn.table(f"{table.database}.{table.name}").info
            check_same(table, wanted.descriptor, found, str(table))
            for difference in generated_differences(table, self._definition(found)):
                raise not_the_same(table, found, difference, str(table)) from None
            return Made(is_new=False)
        return Made(is_new=True, notices=wanted.notices)

    def drop_table(self, database: str, name: str, *, if_exists: bool) -> None:
        """Drop a table with its rows."""
        self._conn.drop_table(f"{database}.{name}", missing_ok=if_exists)

    def alter_table(self, table: TableDefinition, change: TableChange) -> tuple[str, ...]:
        """Change a table on the cluster."""
        path = TablePath(table.database, table.name)
        if isinstance(change, RenameTable):
            rename(self._conn, path, TablePath.parse(".".join(change.name.parts[-2:]), table.database))
            return ()
        before = self._definition(self._conn.table(str(path)).info)
        after = changed_definition(before, change)
        check_options(self._connector, after.options, f"Table {before}")
        check_metadata(after)
        self._check_change(before, change)
        notices = alter(self._conn, path, change)
        self._keep_reading(path, change)
        if isinstance(change, AddColumns):
            old, new = schema_properties(before), schema_properties(after)
            if old != new:
                gone = [key for key in old if key not in new]
                self._conn.alter_table(str(path), set=new, reset=gone)
        return notices

    def _said_by_catalog(self, table: TableDefinition, key: str) -> LakewardError:
        return ErrorCode.INVALID_TABLE.error(
            f"Table {table}: '{key}' is said by the catalog '{self.name}'; leave it out."
        )

    def _check_change(self, table: TableDefinition, change: TableChange) -> None:
        told = change.options if isinstance(change, SetOptions) else {}
        for key in told:
            if key in {*_PLACE, CONNECTOR} or key.startswith(CLIENT_PREFIX):
                raise self._said_by_catalog(table, key)
            if is_secret(key) or is_of_secret(key):
                raise self._open_secret(table, key)

    def _open_secret(self, table: TableDefinition, key: str) -> LakewardError:
        return ErrorCode.INVALID_TABLE.error(
            f"Table {table}: '{key}' would be kept with the table, where everybody can read it; give it to CREATE"
            f" CATALOG {self.name} instead."
        )

    def _keep_reading(self, path: TablePath, change: TableChange) -> None:
        """Options of reads and writes are kept with the table, as CREATE TABLE does."""
        if isinstance(change, SetOptions):
            told = dict(FLUSS_OPTIONS.canonical(key, value) for key, value in change.options.items())
            kept = {key: value for key, value in told.items() if _is_of_reading(key)}
            if kept:
                self._conn.alter_table(str(path), set=kept)
        elif isinstance(change, ResetOptions):
            gone = [key for key in map(FLUSS_OPTIONS.canonical_key, change.keys) if _is_of_reading(key)]
            if gone:
                self._conn.alter_table(str(path), reset=gone)

    @property
    def _conn(self) -> Connection:
        return connection({BOOTSTRAP_SERVERS.key: self._bootstrap, **self._client})

    def _definition(self, info: TableInfo) -> TableDefinition:
        descriptor = info.descriptor
        physical = [PhysicalColumn(column.name, column.type, column.comment) for column in info.schema.columns]
        columns, watermark = with_schema_properties(physical, descriptor.custom_properties)
        told = {**descriptor.properties, **descriptor.custom_properties}
        own = {key: value for key, value in told.items() if is_known(key) and not key.startswith(SCHEMA_PREFIXES)}
        buckets = {BUCKET_COUNT.key: str(info.bucket_count)}
        if descriptor.bucket_keys:
            buckets[BUCKET_KEY.key] = ",".join(descriptor.bucket_keys)
        return TableDefinition(
            catalog=self.name,
            database=info.path.database,
            name=info.path.table,
            columns=columns,
            primary_key=info.schema.primary_key,
            watermark=watermark,
            partitioned_by=descriptor.partition_keys,
            comment=descriptor.comment,
            options={**own, **buckets, **self._place(info.path)},
        )

    def _view(self, info: TableInfo, view: View, name: str) -> TableDefinition:
        columns = view_schema(info.schema, view).columns
        return replace(
            self._definition(info),
            name=name,
            columns=tuple(PhysicalColumn(column.name, column.type, column.comment) for column in columns),
            primary_key=info.schema.primary_key if view is View.LAKE else (),
            watermark=None,
            options=self._place(TablePath(info.path.database, name)),
        )

    def _place(self, path: TablePath) -> dict[str, str]:
        """What a connector needs to find the table."""
        place = {CONNECTOR: KIND, BOOTSTRAP_SERVERS.key: self._bootstrap, TABLE_NAME.key: str(path)}
        return {**place, **self._client, **self._lake}


def _is_of_reading(key: str) -> bool:
    return key in SPARK_OPTIONS.rows or key == SINK_IGNORE_DELETE.key or key.startswith(LAKE_PREFIX)
