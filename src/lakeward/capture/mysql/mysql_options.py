"""Options of sources that read MySQL or MariaDB: one row each, for scripts, Spark and pipelines alike."""

from __future__ import annotations

from lakeward.options.kinds import BOOL, DURATION, TEXT, choice, integer
from lakeward.options.option import OptionTable, Scope

MYSQL_OPTIONS = OptionTable(Scope.CONNECTOR)

HOSTNAME = MYSQL_OPTIONS.optional("hostname", TEXT, "Name or address of the MySQL or MariaDB server.")
PORT = MYSQL_OPTIONS.row("port", integer(1, 65535), 3306, "Port of the server.")
USERNAME = MYSQL_OPTIONS.optional("username", TEXT, "User with the rights SELECT, REPLICATION SLAVE and CLIENT.")
PASSWORD = MYSQL_OPTIONS.optional("password", TEXT, "Password of the user.", secret=True)
DATABASE_NAME = MYSQL_OPTIONS.optional("database-name", TEXT, "Regular expression of the databases to capture.")
TABLE_NAME = MYSQL_OPTIONS.optional("table-name", TEXT, "Regular expression of the tables to capture.")
TABLES = MYSQL_OPTIONS.optional(
    "tables",
    TEXT,
    "Full names of tables, with commas between them, as regular expressions; a dot that stands for any character is"
    r" written `\.`, as in `shop.\.*`.",
)
TABLES_EXCLUDE = MYSQL_OPTIONS.optional("tables.exclude", TEXT, "Tables that `tables` names and that are left out.")
SERVER_ID = MYSQL_OPTIONS.optional(
    "server-id", TEXT, "Number, or range such as 5400-5408, by which the server knows this reader; a free one if unset."
)
SERVER_TIME_ZONE = MYSQL_OPTIONS.optional(
    "server-time-zone", TEXT, "Zone of the server; checked only, since points in time are read in UTC."
)
CONNECT_TIMEOUT = MYSQL_OPTIONS.row("connect.timeout", DURATION, 30_000, "How long to wait for a connection.")
READ_TIMEOUT = MYSQL_OPTIONS.row(
    "read.timeout", DURATION, 60_000, "How long the server may be silent before it is taken for dead."
)
SSL_MODE = MYSQL_OPTIONS.row(
    "ssl.mode",
    choice("disabled", "preferred", "required", "verify_ca", "verify_identity"),
    "preferred",
    "Whether the connection is encrypted, and how much of the server's certificate is checked.",
)
SSL_CA = MYSQL_OPTIONS.optional("ssl.ca", TEXT, "File with the certificate of the authority.")
SSL_CERT = MYSQL_OPTIONS.optional("ssl.cert", TEXT, "File with the certificate of this client.")
SSL_KEY = MYSQL_OPTIONS.optional("ssl.key", TEXT, "File with the key of this client.")
ZERO_DATES = MYSQL_OPTIONS.row(
    "zero-dates", choice("null", "epoch", "error"), "null", "What a date such as 0000-00-00 becomes."
)
TIME_AS_TEXT = MYSQL_OPTIONS.row(
    "time-as-text", BOOL, default=False, doc="Whether TIME columns come as text: theirs go from -838 to 838 hours."
)
