"""Options of sources that read PostgreSQL: one row each, for scripts, Spark and pipelines alike."""

from __future__ import annotations

from lakeward.options.kinds import DURATION, LIST, TEXT, choice, integer
from lakeward.options.option import OptionTable, Scope

POSTGRES_OPTIONS = OptionTable(Scope.CONNECTOR)

HOSTNAME = POSTGRES_OPTIONS.optional(
    "hostname", TEXT, "Name or address of the PostgreSQL server, or the directory of its Unix socket."
)
PORT = POSTGRES_OPTIONS.row("port", integer(1, 65535), 5432, "Port of the server.")
USERNAME = POSTGRES_OPTIONS.optional("username", TEXT, "User with the right REPLICATION who may read the tables.")
PASSWORD = POSTGRES_OPTIONS.optional("password", TEXT, "Password of the user.", secret=True)
DATABASE_NAME = POSTGRES_OPTIONS.optional("database-name", TEXT, "The database: a slot is of one.")
SCHEMA_NAME = POSTGRES_OPTIONS.row(
    "schema-name", LIST, ("public",), "Regular expressions of the schemas whose tables are captured."
)
TABLE_NAME = POSTGRES_OPTIONS.optional("table-name", TEXT, "Regular expression of the tables to capture.")
TABLES = POSTGRES_OPTIONS.optional(
    "tables",
    TEXT,
    "Full names of tables, schema.table, with commas between them, as regular expressions; a dot that stands for any"
    r" character is written `\.`, as in `public.\.*`.",
)
TABLES_EXCLUDE = POSTGRES_OPTIONS.optional("tables.exclude", TEXT, "Tables that `tables` names and that are left out.")
SLOT_NAME = POSTGRES_OPTIONS.row(
    "slot.name",
    TEXT,
    "lakeward",
    "The replication slot that marks how far this stream is; made if it is absent. No two streams may share one.",
)
PUBLICATION_NAME = POSTGRES_OPTIONS.optional(
    "publication.name", TEXT, "The publication; made if it is absent, named after the slot by default."
)
PUBLICATION_TABLES = POSTGRES_OPTIONS.row(
    "publication.tables",
    choice("named", "all"),
    "named",
    "What a publication that is made is for. `named`: the tables captured; a new one is added when it is found. `all`:"
    " every table, new ones from their first row on; the user must be a superuser, and PostgreSQL then refuses updates"
    " of every table without a key.",
)
PLUGIN = POSTGRES_OPTIONS.row(
    "decoding.plugin.name", choice("pgoutput"), "pgoutput", "How the server writes changes; it has this one built in."
)
CONNECT_TIMEOUT = POSTGRES_OPTIONS.row("connect.timeout", DURATION, 30_000, "How long to wait for a connection.")
READ_TIMEOUT = POSTGRES_OPTIONS.row(
    "read.timeout", DURATION, 60_000, "How long the server may be silent, or a slot be in use, before it is an error."
)
SSL_MODE = POSTGRES_OPTIONS.row(
    "ssl.mode",
    choice("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "prefer",
    "Whether the connection is encrypted, and how much of the server's certificate is checked.",
)
SSL_ROOT = POSTGRES_OPTIONS.optional("ssl.root-cert", TEXT, "File with the certificate of the authority.")
SSL_CERT = POSTGRES_OPTIONS.optional("ssl.cert", TEXT, "File with the certificate of this client.")
SSL_KEY = POSTGRES_OPTIONS.optional("ssl.key", TEXT, "File with the key of this client.")
ODD_VALUES = POSTGRES_OPTIONS.row(
    "odd-values",
    choice("fail", "null"),
    "fail",
    "What becomes of values that our types have no place for: infinity as a date, NaN as a decimal, nested arrays.",
)
UNCHANGED_VALUES = POSTGRES_OPTIONS.row(
    "unchanged-values",
    choice("lookup", "fail"),
    "lookup",
    "What is done about long values that an update did not touch, which PostgreSQL does not send unless REPLICA"
    " IDENTITY is FULL. `lookup`: they are read from the table as it is then, so a row may be newer in such a column"
    " for as long as the stream is behind. `fail`: an error.",
)
