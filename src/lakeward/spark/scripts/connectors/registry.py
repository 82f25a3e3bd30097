"""Connectors by name: ours, and those of other packages by the entry point group `lakeward.connectors`.

The options of a table are checked here against the connector's rows, before anything is read, made or written.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import cast

from lakeward.errors import ErrorCode, LakewardError
from lakeward.language.statements.statement import Options
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.option import invalid_value
from lakeward.options.spark import is_secret
from lakeward.spark.scripts.connectors.port import ENTRY_POINTS, Connector, Surroundings

CONNECTOR = "connector"
DEFAULT = "fluss"
_MISSPELT = 0.8
#: Where ours are, also where the package was installed before they were declared.
_HOME = "lakeward.spark.scripts.connectors"
OURS = {
    "blackhole": f"{_HOME}.blackhole:BlackholeConnector",
    "datagen": f"{_HOME}.datagen.datagen_connector:DatagenConnector",
    **dict.fromkeys(
        ("elasticsearch", "elasticsearch-7", "elasticsearch-8", "opensearch"),
        f"{_HOME}.elasticsearch.elasticsearch_connector:ElasticsearchConnector",
    ),
    "filesystem": f"{_HOME}.filesystem.filesystem_connector:FilesystemConnector",
    "fluss": f"{_HOME}.fluss.fluss_connector:FlussConnector",
    "iceberg": f"{_HOME}.lake.lake_connector:IcebergConnector",
    "kafka": f"{_HOME}.kafka.kafka_connector:KafkaConnector",
    "mysql-cdc": f"{_HOME}.capture.capture_connector:MysqlConnector",
    "paimon": f"{_HOME}.lake.lake_connector:PaimonConnector",
    "postgres-cdc": f"{_HOME}.capture.capture_connector:PostgresConnector",
    "print": f"{_HOME}.print_rows:PrintConnector",
    "upsert-kafka": f"{_HOME}.kafka.kafka_connector:UpsertKafkaConnector",
}
#: Names that people know, and nothing provides yet.
_KNOWN_ELSEWHERE = frozenset(
    {
        *("mongodb-cdc", "oracle-cdc", "sqlserver-cdc", "jdbc", "elasticsearch-6", "hbase", "kinesis"),
        *("pulsar", "mongodb", "hive", "redis", "faker"),
    }
)

Make = Callable[[Surroundings], Connector]


class Connectors:
    """The connectors of one script, each made once, when it is first asked for."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._made: dict[str, Connector] = {}

    def connector_of(self, table: TableDefinition) -> Connector:
        """The connector of a table whose options it understands, every one of them."""
        name = table.options.get(CONNECTOR, DEFAULT)
        if name not in self._made:
            self._made[name] = _make_of(table, name)(self._surroundings)
        found = self._made[name]
        check_options(found, table.options, f"Table {table}")
        return found

    def all(self) -> list[Connector]:
        """Every connector there is, by name."""
        return [self._made.get(name) or _load(name)(self._surroundings) for name in known_names()]


def known_names() -> list[str]:
    """The values of 'connector' that something provides."""
    return sorted({*OURS, *(found.name for found in entry_points(group=ENTRY_POINTS))})


def check_options(connector: Connector, options: Options, owner: str) -> None:
    """Refuse options that the connector does not know, and values that it cannot read."""
    for given, text in options.items():
        if given == CONNECTOR:
            continue
        key, value = connector.options.canonical(given, text)
        row = connector.options.rows.get(key)
        if row is not None:
            try:
                row.kind.parse(value)
            except (ValueError, OverflowError) as wrong:
                raise invalid_value(given, "***" if row.secret or is_secret(key) else text, wrong) from wrong
        elif not connector.options.is_open(key):
            raise ErrorCode.INVALID_CONFIG.error(
                f"{owner}: '{given[:120]}' is not an option of the connector '{connector.name}'."
                f"{_nearest(connector, given)}"
            )


def _nearest(connector: Connector, given: str) -> str:
    """What was probably meant."""
    if difflib.get_close_matches(given, [CONNECTOR], n=1, cutoff=_MISSPELT):
        return f" Did you mean '{CONNECTOR}'?"
    return connector.options.nearest(given)


def _make_of(table: TableDefinition, name: str) -> Make:
    if name not in known_names():
        raise _unknown(table, name)
    return _load(name)


def _load(name: str) -> Make:
    for found in entry_points(group=ENTRY_POINTS, name=name):
        return cast(Make, found.load())
    module, _, kind = OURS[name].partition(":")
    return cast(Make, getattr(import_module(module), kind))


def _unknown(table: TableDefinition, name: str) -> LakewardError:
    known = known_names()
    provide = f"a package provides one by an entry point of the group '{ENTRY_POINTS}'"
    if name in _KNOWN_ELSEWHERE:
        why = f"nothing that is installed provides the connector '{name}'; {provide}"
    else:
        close = difflib.get_close_matches(name, known, n=1)
        why = f"there is no connector '{name}'; " + (f"did you mean '{close[0]}'?" if close else provide)
    end = "" if why.endswith("?") else "."
    return ErrorCode.INVALID_CONFIG.error(f"Table {table}: {why}{end} There are {', '.join(known)}.")
