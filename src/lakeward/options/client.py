"""Rows for clients: connections, writers, scanners. Names are those of Apache Fluss."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.options.authentication import PLAIN, PROTOCOL, SCRAM, ListenerProtocol
from lakeward.options.kinds import COUNT, DURATION, INT32_MAX, LIST, SIZE, TEXT, choice, integer
from lakeward.options.option import OptionTable, Scope

_KB, _MB = 1 << 10, 1 << 20

CLIENT_OPTIONS = OptionTable(Scope.CLIENT)
#: How one comes in at a server: clients, and servers of a cluster, which come to each other.
SECURITY_OPTIONS = OptionTable(Scope.CLIENT)
_row, _optional, _switch = CLIENT_OPTIONS.row, CLIENT_OPTIONS.optional, CLIENT_OPTIONS.switch
_inert = CLIENT_OPTIONS.inert

# Connections
BOOTSTRAP_SERVERS = _row("bootstrap.servers", LIST, ("localhost:9123",), "Servers to ask first, host:port,….")
CONNECT_TIMEOUT = _row("client.connect-timeout", DURATION, 120_000, "How long opening a connection may take.")
REQUEST_TIMEOUT = _row("client.request-timeout", DURATION, 30_000, "How long the server may take over a write.")
AWAY_TIMEOUT = _row(
    "client.away-timeout",
    DURATION,
    0,
    "How long a connection that was made waits for servers that are away. Writes, reads and lookups wait for a minute"
    " or two in any case; the Spark connector waits for 5 minutes (Lakeward).",
)

# Security. Values that are or may be secret are themselves, or `${env:NAME}`, or `file:/path` of a file with mode 0600
SECURITY_PROTOCOL = SECURITY_OPTIONS.row(
    "client.security.protocol",
    PROTOCOL,
    ListenerProtocol.PLAINTEXT,
    "How a connection is made: SASL logs in, SSL encrypts (TLS). Without it, credentials mean SASL, certificates SSL.",
)
SASL_MECHANISM = SECURITY_OPTIONS.row(
    "client.security.sasl.mechanism",
    choice(PLAIN, SCRAM),
    PLAIN,
    "How the login is done. PLAIN sends the password; SCRAM-SHA-256, which Apache Fluss does not have, proves it.",
)
SASL_USERNAME = SECURITY_OPTIONS.optional("client.security.sasl.username", TEXT, "Who logs in; itself, or a reference.")
SASL_PASSWORD = SECURITY_OPTIONS.optional(
    "client.security.sasl.password",
    TEXT,
    "The password: itself, `${env:NAME}`, or `file:/path` of a file that only its owner may read.",
    secret=True,
)
SASL_JAAS = SECURITY_OPTIONS.optional(
    "client.security.sasl.jaas.config",
    TEXT,
    'User and password as Java writes them: `… required username="…" password="…";`, or a reference.',
    secret=True,
)
TLS_CA = SECURITY_OPTIONS.optional(
    "client.security.tls.ca-file",
    TEXT,
    "Certificates (PEM) of the authorities that servers are trusted by; without it, those of this machine (Lakeward).",
)
TLS_CERTIFICATE = SECURITY_OPTIONS.optional(
    "client.security.tls.certificate-file", TEXT, "Certificate (PEM) that the client shows to servers (Lakeward)."
)
TLS_KEY = SECURITY_OPTIONS.optional(
    "client.security.tls.key-file",
    TEXT,
    "Key (PEM) of that certificate, in a file that only its owner may read; else it is in the same file (Lakeward).",
)
TLS_KEY_PASSWORD = SECURITY_OPTIONS.optional(
    "client.security.tls.key-password", TEXT, "Password of that key; itself, or a reference (Lakeward).", secret=True
)
TLS_VERIFY_HOSTNAME = SECURITY_OPTIONS.switch(
    "client.security.tls.verify-hostname",
    "Whether the certificate must be of the host that is connected to (Lakeward).",
    default=True,
)
CLIENT_OPTIONS.adopt(SECURITY_OPTIONS)

# Writers
WRITER_BUFFER = _row("client.writer.buffer.memory-size", SIZE, 64 * _MB, "Memory for rows that are not yet sent.")
WRITER_BATCH = _row("client.writer.batch-size", SIZE, 2 * _MB, "Size at which a batch is sent.")
WRITER_BATCH_TIMEOUT = _row("client.writer.batch-timeout", DURATION, 100, "Age at which a batch is sent even if small.")
WRITER_ACKS = _row("client.writer.acks", choice("all", "-1", "0", "1"), "all", "Replicas that must have a write.")
WRITER_RETRIES = _row(
    "client.writer.retries", integer(low=0), INT32_MAX, "How often a write that may yet succeed is repeated."
)
WRITER_IDEMPOTENCE = _switch(
    "client.writer.enable-idempotence", "Whether a repeated write is stored once.", default=True
)
WRITER_INFLIGHT = _row(
    "client.writer.max-inflight-requests-per-bucket", COUNT, 5, "Batches of one bucket under way at once."
)
WRITER_CREATE_PARTITIONS = _switch(
    "client.writer.dynamic-create-partition.enabled", "Whether a missing partition is created on write.", default=True
)
WRITER_NO_KEY_ASSIGNER = _row(
    "client.writer.bucket.no-key-assigner",
    choice("STICKY", "ROUND_ROBIN"),
    "STICKY",
    "How rows of a table without bucket key are spread.",
)

# Scanners
SCANNER_CHECK_CRC = _switch("client.scanner.log.check-crc", "Whether checksums are checked on read.", default=True)
SCANNER_BATCH_MAX = _row(
    "client.scanner.log.max-decompressed-batch-size",
    SIZE,
    128 * _MB,
    "Memory that the rows of one stored batch may take once they are decompressed; one that claims more, and more than "
    "16 times its size, is refused as damaged.",
)
FETCH_MAX = _row("client.scanner.log.fetch.max-bytes", SIZE, 16 * _MB, "Bytes one fetch returns at most.")
FETCH_MAX_BUCKET = _row(
    "client.scanner.log.fetch.max-bytes-for-bucket", SIZE, _MB, "Bytes one fetch returns of a bucket at most."
)
FETCH_WAIT = _row("client.scanner.log.fetch.wait-max-time", DURATION, 500, "How long a fetch waits for new records.")
FETCH_MIN = _row("client.scanner.log.fetch.min-bytes", SIZE, 1, "Bytes for which a fetch waits.")
REMOTE_PREFETCH = _row("client.scanner.remote-log.prefetch-num", COUNT, 4, "Remote segments read ahead of the scan.")
REMOTE_CACHE = _row(
    "client.scanner.remote-log.cache-size",
    SIZE,
    512 * _MB,
    "Disk for pieces of remote segments, shared by all scans of a process.",
)
REMOTE_TMP_DIR = _optional(
    "client.scanner.io.tmpdir", TEXT, "Where pieces of remote segments are put while they are read."
)
REMOTE_DOWNLOADS = _row(
    "client.remote-file.download-thread-num", COUNT, 3, "Downloads of a connection under way at once."
)
for _family in ("s3.", "fs.s3a.", "remote.store."):
    CLIENT_OPTIONS.open_prefix(_family, "How this client reaches the remote store, in place of what the server says.")

# What Java's client has and ours does without
_inert("client.id", TEXT, "")
_inert("client.writer.buffer.page-size", SIZE, 128 * _KB)
_inert("client.writer.request-max-size", SIZE, 10 * _MB)
_inert("client.scanner.log.max-poll-records", COUNT, 500)
_inert("client.lookup.queue-size", COUNT, 25_600)
_inert("client.lookup.max-batch-size", COUNT, 128)
_inert("client.lookup.max-inflight-requests", COUNT, 128)
_inert("client.lookup.batch-timeout", DURATION, 100)
_inert("client.lookup.max-retries", integer(low=0), INT32_MAX)


def patient(given: Mapping[str, str]) -> dict[str, str]:
    """Options of an engine's connection: a job of hours does not end because a server is started again."""
    return {AWAY_TIMEOUT.key: "5 min", **given}
