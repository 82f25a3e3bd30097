"""LakeCatalog: the tables of an Iceberg or a Paimon lake, to be read."""

from __future__ import annotations

from lakeward.errors import ErrorCode, LakewardError
from lakeward.language.statements.create_table import PhysicalColumn
from lakeward.language.statements.define import TableChange
from lakeward.language.statements.statement import Options
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.table import TablePath
from lakeward.spark.scripts.catalogs.catalog_options import LAKE_DATABASE
from lakeward.spark.scripts.catalogs.port import DatabaseDefinition, Made
from lakeward.spark.scripts.connectors.lake.lake_options import CATALOG_TYPE, TABLE_NAME, lake_properties
from lakeward.spark.scripts.connectors.lake.opened_lake import OpenedLake
from lakeward.spark.scripts.connectors.registry import CONNECTOR

ICEBERG, PAIMON = "iceberg", "paimon"
#: What says where a lake is: its directory, or a catalog that knows it.
_PLACES = {"warehouse", "uri", CATALOG_TYPE.key}


class LakeCatalog:
    """A lake, seen as a catalog; nothing is made or changed by way of it."""

    def __init__(self, name: str, kind: str, options: Options) -> None:
        self.name = name
        self.kind = kind
        self.default_database = LAKE_DATABASE.read(options)
        self.spark_settings: dict[str, str] = {}
        self._options = {key: value for key, value in options.items() if key != LAKE_DATABASE.key}
        if not _PLACES & options.keys():
            raise ErrorCode.INVALID_CONFIG.error(
                f"The catalog '{name}' does not say where its lake is: set 'warehouse' to a directory or to"
                " s3://bucket/folder."
            )
        self._lake()

    def databases(self) -> list[str]:
        """Their names, sorted."""
        return self._lake().databases()

    def database(self, name: str) -> DatabaseDefinition | None:
        """A database; None if there is none."""
        return DatabaseDefinition() if name in self.databases() else None

    def tables(self, database: str) -> list[str]:
        """The names of a database's tables, sorted."""
        return self._lake().tables(database)

    def definition(self, database: str, name: str) -> TableDefinition | None:
        """A table as the lake has it now, system columns included."""
        info = self._lake().describe(TablePath(database, name))
        if info is None:
            return None
        return TableDefinition(
            catalog=self.name,
            database=database,
            name=name,
            columns=tuple(PhysicalColumn(c.name, c.type, c.comment) for c in info.schema.columns),
            primary_key=info.schema.primary_key,
            partitioned_by=info.descriptor.partition_keys,
            comment=info.descriptor.comment,
            options={**self._options, CONNECTOR: self.kind, TABLE_NAME.key: f"{database}.{name}"},
        )

    def create_database(self, name: str, comment: str | None, options: Options) -> Made:
        """Refused."""
        del comment, options
        raise self._read_only(f"the database {name} cannot be made")

    def drop_database(self, name: str, *, if_exists: bool, is_cascade: bool) -> None:
        """Refused."""
        del if_exists, is_cascade
        raise self._read_only(f"the database {name} cannot be dropped")

    def create_table(self, table: TableDefinition) -> Made:
        """Refused."""
        raise self._read_only(f"the table {table.name} cannot be made")

    def drop_table(self, database: str, name: str, *, if_exists: bool) -> None:
        """Refused."""
        del if_exists
        raise self._read_only(f"the table {database}.{name} cannot be dropped")

    def alter_table(self, table: TableDefinition, change: TableChange) -> tuple[str, ...]:
        """Refused."""
        del change
        raise self._read_only(f"the table {table.name} cannot be changed")

    def _lake(self) -> OpenedLake:
        return OpenedLake.of(self.kind, lake_properties(self._options))

    def _read_only(self, what: str) -> LakewardError:
        return ErrorCode.INVALID_TABLE.error(
            f"The catalog '{self.name}' shows a lake, which is only read here: {what}. Create the table in a catalog of"
            " the type 'fluss' with 'table.datalake.enabled' = 'true', and tiering makes it in the lake."
        )
