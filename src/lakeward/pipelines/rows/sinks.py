"""Rows of sinks: where the tables go."""

from __future__ import annotations

from lakeward.options.kinds import COUNT, LIST, TEXT, choice
from lakeward.options.option import OptionTable, Scope
from lakeward.pipelines.rows.part import Part


def _names_of_tables() -> OptionTable:
    rows = OptionTable(Scope.PIPELINE)
    rows.optional("database-name", TEXT, "The database that all tables go to; by default the one they come from.")
    rows.optional("table-name", TEXT, "The table that all rows go to; by default each goes under its own name.")
    return rows


def _fluss() -> OptionTable:
    rows = _names_of_tables()
    rows.row("bootstrap.servers", LIST, ("localhost:9123",), "Servers of the cluster to ask first, host:port,….")
    rows.optional("bucket.num", COUNT, "Buckets of the tables that are made.")
    rows.open_prefix("table.", "A property of every table that is made, as CREATE TABLE has it.")
    rows.open_prefix("client.", "An option of the client.")
    return rows


def _kafka() -> OptionTable:
    rows = _names_of_tables()
    rows.optional("properties.bootstrap.servers", TEXT, "Brokers, host:port,….")
    rows.optional(
        "topic",
        TEXT,
        "The topic of all tables; by default each has its own, named after it. Keys in it begin with `TableId`.",
    )
    rows.row(
        "value.format",
        choice("debezium-json", "canal-json", "json"),
        "debezium-json",
        "How a change is written; `json` has upserts only, and a delete is a message without a value.",
    )
    rows.optional("transactional.id.prefix", TEXT, "Begins the names of transactions; after the pipeline by default.")
    rows.row(
        "delivery.guarantee",
        choice("auto", "exactly-once", "at-least-once"),
        "auto",
        "Whether a micro-batch is one transaction; `auto`: where the brokers take them, and it says which.",
    )
    rows.open_prefix("properties.", "A setting of librdkafka.")
    return rows


def _iceberg() -> OptionTable:
    rows = _names_of_tables()
    rows.optional("warehouse", TEXT, "Where tables are: a directory, or a place such as s3://bucket/folder.")
    rows.open_prefix("catalog.properties.", "A property of the catalog: type, uri, warehouse, credentials.")
    rows.open_prefix("table.properties.", "A property of every table that is made.")
    return rows


def _print() -> OptionTable:
    rows = _names_of_tables()
    rows.optional("print.identifier", TEXT, "What stands in front of each line.")
    return rows


SINKS = {
    "fluss": Part("Tables of a Fluss cluster, made where they are missing.", _fluss()),
    "kafka": Part("A topic for each table, made where it is missing.", _kafka(), ("properties.bootstrap.servers",)),
    "iceberg": Part(
        "Tables of an Iceberg catalog, made where they are missing.",
        _iceberg(),
        (),
        (("warehouse",), ("catalog.properties.warehouse",), ("catalog.properties.uri",)),
    ),
    "print": Part("A line for each change, on stdout.", _print()),
}
