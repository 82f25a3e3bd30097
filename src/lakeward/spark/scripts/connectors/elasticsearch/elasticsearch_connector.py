"""The connector `elasticsearch`, and the other names that it has."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.schema import Column, Schema
from lakeward.spark.scripts.connectors.elasticsearch.bulk_actions import BulkActions
from lakeward.spark.scripts.connectors.elasticsearch.elasticsearch_options import (
    DELIMITER,
    ELASTICSEARCH_OPTIONS,
    INDEX,
    BulkSettings,
)
from lakeward.spark.scripts.connectors.elasticsearch.elasticsearch_sink import DocumentWriter, ElasticsearchSink
from lakeward.spark.scripts.connectors.elasticsearch.index_names import IndexNames
from lakeward.spark.scripts.connectors.elasticsearch.refused_documents import RefusedDocuments
from lakeward.spark.scripts.connectors.port import Sink, Source, Surroundings


class ElasticsearchConnector:
    """To search what was written."""

    name = "elasticsearch"
    summary = (
        "Indexes of Elasticsearch and OpenSearch, to be written: rows are documents, with ids of the primary key. Also"
        " under the names `elasticsearch-7`, `elasticsearch-8` and `opensearch`."
    )
    options = ELASTICSEARCH_OPTIONS

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """Check the definition; an index is made by the server when it is first written."""
        self.sink(table)
        if table.primary_key:
            return ()
        doubled = "after a failure some may be there twice (at least once)"
        return (f"Table {table} has no primary key: documents get ids from the server, and {doubled}.",)

    def source(self, table: TableDefinition) -> Source:
        """Refused."""
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {table} cannot be read: the connector 'elasticsearch' only writes. Read the table they came from."
        )

    def sink(self, table: TableDefinition) -> Sink:
        """Documents of the rows."""
        settings = BulkSettings.of(table.options, f"Table {table}")
        schema = Schema.of([Column(column.name, column.type) for column in table.physical], table.primary_key)
        pattern = INDEX.read(table.options)
        if not pattern:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table}: the connector 'elasticsearch' needs the option '{INDEX.key}', for example 'orders'."
            )
        fields = [(column.name, column.type) for column in schema.columns]
        indexes = IndexNames(pattern, fields, f"Table {table}")
        actions = BulkActions(schema, indexes, DELIMITER.read(table.options))
        refused = RefusedDocuments(table, self._surroundings)
        return ElasticsearchSink(DocumentWriter(schema, actions, settings), refused, str(table))
