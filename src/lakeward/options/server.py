"""Rows for the server, both roles. Names are those of Apache Fluss but for those marked "(Lakeward)"."""

from __future__ import annotations

from lakeward.options.apache.inert_keys import INERT_KEYS
from lakeward.options.authentication import AUTHENTICATION_OPTIONS
from lakeward.options.authorization import AUTHORIZATION_OPTIONS
from lakeward.options.client import SECURITY_OPTIONS
from lakeward.options.endpoint import ENDPOINTS, Endpoint
from lakeward.options.kinds import (
    COUNT,
    DURATION,
    INT64_MAX,
    LIST,
    RATIO,
    SIZE,
    TEXT,
    choice,
    integer,
)
from lakeward.options.metrics import METRICS_OPTIONS
from lakeward.options.option import OptionTable, Scope
from lakeward.options.remote_store import REMOTE_STORE_OPTIONS
from lakeward.options.table import LAKE_FORMATS

DEFAULT_LISTENER = "FLUSS"
DEFAULT_PORT = 9123
_SECOND_MS, _MINUTE_MS, _HOUR_MS, _DAY_MS = 1000, 60_000, 3_600_000, 86_400_000
_MB = 1 << 20

SERVER_OPTIONS = OptionTable(Scope.SERVER)
_row, _optional, _switch = SERVER_OPTIONS.row, SERVER_OPTIONS.optional, SERVER_OPTIONS.switch
_alias, _open, _inert = SERVER_OPTIONS.alias, SERVER_OPTIONS.open_prefix, SERVER_OPTIONS.inert

# Addresses
BIND_LISTENERS = _row(
    "bind.listeners",
    ENDPOINTS,
    (Endpoint(DEFAULT_LISTENER, "localhost", DEFAULT_PORT),),
    "Where the server listens, NAME://host:port separated by commas.",
)
ADVERTISED_LISTENERS = _optional(
    "advertised.listeners", ENDPOINTS, "Addresses told to clients, where they differ from bind.listeners."
)

# Places
DATA_DIR = _row("data.dir", TEXT, "lakeward-data", "The directory that holds metadata and logs.")
REMOTE_DATA_DIR = _optional(
    "remote.data.dir",
    TEXT,
    "A directory, file://, s3:// or s3a:// that closed segments and snapshots are copied to; unset, none are.",
)

# Tables
DEFAULT_BUCKET_NUMBER = _row("default.bucket.number", COUNT, 1, "Buckets of a table that does not say how many.")
DEFAULT_REPLICATION_FACTOR = _row(
    "default.replication.factor", COUNT, 1, "Replication factor of a table that does not name one."
)
MAX_PARTITION_NUM = _row("max.partition.num", COUNT, 1000, "Partitions one table may have.")
MAX_BUCKET_NUM = _row("max.bucket.num", COUNT, 4096, "Buckets one table or partition may have.")
ALLOW_LOG_TABLES = _switch("allow.create.log.tables", "Whether log tables may be created.", default=True)
ALLOW_KV_TABLES = _switch("allow.create.kv.tables", "Whether primary key tables may be created.", default=True)
AUTO_PARTITION_CHECK_INTERVAL = _row(
    "auto-partition.check.interval", DURATION, 10 * _MINUTE_MS, "How often partitions are created and expired."
)
PRODUCER_OFFSETS_TTL = _row(
    "coordinator.producer-offsets.ttl", DURATION, _DAY_MS, "How long registered producer offsets are kept."
)
PRODUCER_OFFSETS_CLEANUP_INTERVAL = _row(
    "coordinator.producer-offsets.cleanup-interval", DURATION, _HOUR_MS, "How often expired offsets are removed."
)

# Connections
MAX_REQUEST_SIZE = _row("netty.server.max-request-size", SIZE, 100 * _MB, "The largest request frame accepted.")
MAX_IDLE_TIME = _row(
    "netty.connection.max-idle-time", DURATION, 10 * _MINUTE_MS, "Silence after which a connection is closed."
)
MAX_CONNECTIONS = _row("netty.server.max-connections", COUNT, 10_000, "Connections held at once (Lakeward).")
MAX_CONNECTIONS_PER_ADDRESS = _row(
    "netty.server.max-connections-per-address",
    COUNT,
    5000,
    "Connections of one address at once; those of this machine itself have no such bound (Lakeward).",
)
MAX_PENDING_RESPONSE_SIZE = _row(
    "netty.server.max-pending-response-size",
    SIZE,
    4 * _MB,
    "Unread answers at which a connection's requests wait (Lakeward).",
)
MAX_RECEIVE_MEMORY = _row(
    "netty.server.max-receive-memory",
    SIZE,
    512 * _MB,
    "Memory for requests above 64 KB that are on their way, all connections together; the next ones wait. Half of it is"
    " for those above 8 MB (Lakeward).",
)
MAX_UNREAD_MEMORY = _row(
    "netty.server.max-pending-response-memory",
    SIZE,
    512 * _MB,
    "Memory for answers that their clients have not read, all connections together; then whoever reads nothing is"
    " closed (Lakeward).",
)
MAX_ELEMENTS = _row(
    "server.request.max-elements",
    COUNT,
    30_000,
    "Buckets, tables, partitions and other elements that one request may name (Lakeward).",
)
MAX_KEYS = _row("server.request.max-keys", COUNT, 20_000, "Keys that one lookup may name (Lakeward).")
MAX_ROWS = _row(
    "server.request.max-prefix-rows", COUNT, 100_000, "Rows that one lookup of prefixes may find (Lakeward)."
)
MAX_ANSWER_SIZE = _row(
    "server.request.max-answer-size",
    SIZE,
    96 * _MB,
    "The largest answer; a fetch gets less, a lookup or a limited scan is refused (Lakeward).",
)
MAX_WAITING_FETCHES = _row(
    "server.fetch.max-waiting-per-connection",
    COUNT,
    100,
    "Fetches of one connection that wait for rows at a time; more are answered at once (Lakeward).",
)
HTTP_HEADER_TIMEOUT = _row(
    "server.http.header-timeout", DURATION, 10 * _SECOND_MS, "Time for the header of an HTTP request (Lakeward)."
)

# The log
LOG_SEGMENT_SIZE = _row("log.segment.file-size", SIZE, 1024 * _MB, "Size at which a log segment is rolled.")
LOG_ROLL_INTERVAL = _optional(
    "log.roll-interval", DURATION, "Age at which a log segment is rolled even if small (Lakeward)."
)
LOG_DELETE_DELAY = _row(
    "log.segment.delete-delay", DURATION, _MINUTE_MS, "How long a retired segment stays on disk (Lakeward)."
)
LOG_INDEX_INTERVAL = _row("log.index.interval-size", SIZE, 4096, "Bytes of log per index entry.")
LOG_BATCH_CHECK = _row(
    "log.batch.check",
    choice("full", "structure"),
    "full",
    "How far batches are looked into before they are appended: every value, or only what readers trust with their"
    " memory (Lakeward).",
)
LOG_FLUSH_MESSAGES = _row(
    "log.flush.interval-messages",
    integer(low=1, high=INT64_MAX),
    INT64_MAX,
    "Records after which a log is synced to disk; by default the operating system decides.",
)
LOG_CHECKPOINT_INTERVAL = _row(
    "log.flush.offset.checkpoint-interval", DURATION, _MINUTE_MS, "How often recovery points are recorded."
)
LOG_RETENTION_CHECK_INTERVAL = _row(
    "log.retention.check-interval", DURATION, 5 * _MINUTE_MS, "How often expired segments are looked for."
)
LOG_ROLL_EXPIRED = _switch(
    "log.retention.roll-active-segment.enabled",
    "Whether retention may roll an expired segment that is still written to.",
    dynamic=True,
)
WRITER_EXPIRATION_TIME = _row(
    "server.writer-id.expiration-time", DURATION, 7 * _DAY_MS, "Silence after which a writer is forgotten."
)
WRITERS_MAX = _row(
    "server.writer-id.max-per-bucket",
    COUNT,
    10_000,
    "Writers that a bucket remembers at most. Who wrote longest ago is forgotten for a new one, but not within two "
    "minutes; then new writers are told to try again (Lakeward).",
)
WRITER_PARKING_TIMEOUT = _row(
    "server.writer.out-of-order-timeout",
    DURATION,
    _SECOND_MS,
    "How long a batch waits for the ones before it; then it is refused (Lakeward).",
)
LOG_SCRUB_INTERVAL = _row(
    "log.scrub.interval",
    DURATION,
    _DAY_MS,
    "Pause between two readings of all closed segments, which look for bytes that are not as they were written"
    " (Lakeward).",
)
LOG_SCRUB_RATE = _row(
    "log.scrub.rate", SIZE, 8 * _MB, "How much the scrubber reads in a second at most; 0 switches it off (Lakeward)."
)
DISK_WRITE_LIMIT = _row(
    "server.data-disk.write-limit-ratio",
    RATIO,
    0.85,
    "Share of the disk in use at which writes stop; reads go on. 1 leaves it to the disk.",
    dynamic=True,
)
DISK_WRITE_RECOVER = _row(
    "server.data-disk.write-recover-ratio",
    RATIO,
    0.80,
    "Share of the disk in use at which writes go on by themselves.",
    dynamic=True,
)
KV_ENGINE = _row(
    "kv.engine",
    choice("hash", "rocksdb"),
    "hash",
    "Where the state of primary key tables is: in memory, or in RocksDB when it is larger than memory (Lakeward).",
)
KV_SNAPSHOT_INTERVAL = _row(
    "kv.snapshot.interval",
    DURATION,
    10 * _MINUTE_MS,
    "How often key/value state is snapshotted.",
    dynamic=True,
)
KV_SNAPSHOTS_RETAINED = _row(
    "kv.snapshot.num-retained", COUNT, 2, "How many snapshots of a bucket are kept in remote storage."
)
KV_SNAPSHOT_FORMAT = _row(
    "kv.snapshot.remote-format",
    choice("engine", "rocksdb"),
    "engine",
    "Whether snapshots are copied as the engine wrote them, or always as a RocksDB that readers of Apache Fluss open;"
    " with the hash engine that takes the library rocksdict and time (Lakeward).",
)
KV_LEASE_CHECK_INTERVAL = _row(
    "kv.snapshot.lease.expiration-check-interval",
    DURATION,
    10 * _MINUTE_MS,
    "How often leases on snapshots are looked at whose time is up.",
)
DATALAKE_ENABLED = _optional("datalake.enabled", choice("true", "false"), "Whether tables may be tiered.", dynamic=True)
DATALAKE_FORMAT = _optional("datalake.format", LAKE_FORMATS, "The lake format of this cluster.", dynamic=True)

# The log in remote storage
REMOTE_LOG_INTERVAL = _row(
    "remote.log.task-interval-duration",
    DURATION,
    _MINUTE_MS,
    "How often closed segments are looked for that are to be copied to remote storage; 0 never copies any.",
)
REMOTE_LOG_SEGMENTS = _row(
    "remote.log.task-max-upload-segments",
    COUNT,
    5,
    "Segments of one bucket that are copied before the manifest is written, and other buckets have their turn.",
)
REMOTE_LOG_COPIES = _row(
    "remote.log.data-transfer-thread-num", COUNT, 4, "Buckets whose segments are copied at the same time."
)
REMOTE_LOG_RATE = _row(
    "remote.log.copy-bytes-per-second", SIZE, 0, "Bytes a second that all copies may take; 0 is no limit (Lakeward)."
)
REMOTE_LOG_SYNC = _optional(
    "remote.log.sync",
    DURATION,
    "Age at which rows are rolled into a segment and copied even if it is small: what a lost disk can cost (Lakeward).",
)
REMOTE_INDEX_CACHE = _row(
    "remote.log.index-file-cache-size", SIZE, 64 * _MB, "Indexes of remote segments that are kept in memory."
)

# One of several
ZOOKEEPER_ADDRESS = _optional(
    "zookeeper.address", TEXT, "host:port, separated by commas, of the ZooKeeper of an Apache Fluss cluster."
)
ZOOKEEPER_ROOT = _row("zookeeper.path.root", TEXT, "/fluss", "The node in ZooKeeper that holds the cluster.")
ZOOKEEPER_SESSION_TIMEOUT = _row(
    "zookeeper.client.session-timeout",
    DURATION,
    60 * _SECOND_MS,
    "How long a tablet server that says nothing is taken for alive; within the bounds of ZooKeeper.",
)
ZOOKEEPER_CONNECT_TIMEOUT = _row(
    "zookeeper.client.connection-timeout", DURATION, 15 * _SECOND_MS, "How long ZooKeeper is tried to be reached."
)
INTERNAL_LISTENER = _row(
    "internal.listener.name",
    TEXT,
    DEFAULT_LISTENER,
    "The listener by which the servers of a cluster come.",
)
REPLICA_LAG_MAX = _row(
    "log.replica.max-lag-time",
    DURATION,
    30 * _SECOND_MS,
    "How long a follower may be behind before it no longer counts as in sync.",
)
REPLICAS_IN_SYNC_MIN = _row(
    "log.replica.min-in-sync-replicas-number", COUNT, 1, "Replicas in sync that a write with acks=all needs."
)
REPLICA_FETCH_BYTES = _row(
    "log.replica.fetch.max-bytes", SIZE, 16 * _MB, "What a follower asks of a leader for at a time."
)
REPLICA_FETCH_BUCKET_BYTES = _row(
    "log.replica.fetch.max-bytes-for-bucket", SIZE, _MB, "What a follower asks for at a time of one bucket."
)
REPLICA_FETCH_WAIT = _row(
    "log.replica.fetch.wait-max-time",
    DURATION,
    20,
    "How long a leader may wait for rows before it answers a follower. Apache's default is 500 ms, and its leaders "
    "sleep through all of it.",
)
REPLICA_FETCH_BACKOFF = _row(
    "log.replica.fetch.backoff-interval", DURATION, _SECOND_MS, "How long a follower rests after a leader's error."
)
REPLICA_MARK_INTERVAL = _row(
    "log.replica.high-watermark.checkpoint-interval",
    DURATION,
    5 * _SECOND_MS,
    "How often it is noted up to where all replicas in sync have their rows.",
)

# Security
SERVER_OPTIONS.adopt(AUTHENTICATION_OPTIONS)
SERVER_OPTIONS.adopt(AUTHORIZATION_OPTIONS)
SERVER_OPTIONS.adopt(SECURITY_OPTIONS)
SERVER_OPTIONS.adopt(REMOTE_STORE_OPTIONS)
SERVER_OPTIONS.adopt(METRICS_OPTIONS)
_open("datalake.", "Catalog options handed to the lake.")
for _family in ("zookeeper.", "kv.rocksdb.", "plugin.", "metrics.", "kafka."):
    _open(_family, "Accepted from an Apache Fluss configuration; what is not listed above has no effect here.")
for _family in ("s3.", "fs.", "oss.", "gs.", "abfs."):
    _open(_family, "Options of the remote file system.")
for _key in INERT_KEYS:
    _inert(_key, LIST if _key in {"remote.data.dirs", "remote.data.dirs.weights"} else TEXT)
_inert("log.index.file-size", SIZE, 10 * _MB)
_inert("server.writer-id.expiration-check-interval", DURATION, 10 * _MINUTE_MS)
_inert("kv.rocksdb.shared-rate-limiter.bytes-per-sec", SIZE, dynamic=True)

#: What ALTER_CLUSTER_CONFIGS may change while the server runs.
DYNAMIC_PREFIXES = ("datalake.",)
DYNAMIC_KEYS = frozenset(option.key for option in SERVER_OPTIONS if option.dynamic) | {
    "kv.leader-replica.memory-reserved",
    "remote.data.dirs",
    "remote.data.dirs.strategy",
    "remote.data.dirs.weights",
    "server.historical-partition.lookup-cache.max-disk-ratio",
    "server.historical-partition.lookuper-cache.expire-after-access",
}

_alias("listeners", BIND_LISTENERS)
_alias("log.dirs", DATA_DIR)
_alias("log.segment.bytes", LOG_SEGMENT_SIZE)
_alias("log.roll.hours", LOG_ROLL_INTERVAL, lambda text: f"{integer(low=1).parse(text)} h")
_alias("log.segment.delete.delay.ms", LOG_DELETE_DELAY, lambda text: f"{integer(low=0).parse(text)} ms")
_alias("log.retention.check.interval.ms", LOG_RETENTION_CHECK_INTERVAL, lambda text: f"{integer(low=0).parse(text)} ms")
_alias("log.index.interval.bytes", LOG_INDEX_INTERVAL)
_alias("log.flush.interval.messages", LOG_FLUSH_MESSAGES)
_alias("bucket.num", DEFAULT_BUCKET_NUMBER)
_alias("table.replication-factor", DEFAULT_REPLICATION_FACTOR)
