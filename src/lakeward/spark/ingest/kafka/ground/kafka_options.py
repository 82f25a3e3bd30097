"""Rows of Kafka as a source and a sink, by the names that Flink has for them; Spark's own names are aliases."""

from __future__ import annotations

from lakeward.formats.door.registry import FORMAT_NAMES, FORMAT_OPTIONS
from lakeward.options.kinds import COUNT, DURATION, INT64_MAX, LIST, TEXT, choice, integer
from lakeward.options.option import OptionTable, Scope
from lakeward.options.spark import TIME

PROPERTIES = "properties."
#: Settings of a format, by its name; `key.` and `value.` before it say which of two is meant.
FORMAT_PREFIXES = tuple(f"{name}." for name in FORMAT_NAMES)
_ROWS = integer(low=1, high=INT64_MAX)

KAFKA_OPTIONS = OptionTable(Scope.CONNECTOR)
_row, _optional, _alias = KAFKA_OPTIONS.row, KAFKA_OPTIONS.optional, KAFKA_OPTIONS.alias

# Where
BOOTSTRAP_SERVERS = _optional(
    "properties.bootstrap.servers", TEXT, "The brokers to ask first: `host:port`, several with commas."
)
TOPIC = _optional("topic", LIST, "The topic; several with `;` to read them as one table.")
TOPIC_PATTERN = _optional(
    "topic-pattern", TEXT, "A regular expression: every topic whose whole name it matches is read, new ones too."
)
GROUP_ID = _optional(
    "properties.group.id",
    TEXT,
    "The consumer group whose committed offsets tell others how far a stream is. The stream itself goes on from its"
    " checkpoint.",
)

# What a message holds
FORMAT = _optional("format", TEXT, "The format of values; without one the table has Kafka's own columns.")
VALUE_FORMAT = _optional("value.format", TEXT, "The same as `format`.")
KEY_FORMAT = _optional("key.format", TEXT, "The format of keys; with it, `key.fields` says which columns they hold.")
KEY_FIELDS = _optional("key.fields", LIST, "The columns that are in the key, separated by `;`.")
KEY_PREFIX = _row(
    "key.fields-prefix",
    TEXT,
    "",
    "What the names of the key's columns begin with, to tell them from those of the value; the key's own fields do not"
    " have it.",
)
VALUE_FIELDS = _row(
    "value.fields-include",
    choice("ALL", "EXCEPT_KEY"),
    "ALL",
    "Whether values hold the columns of the key, too.",
)

# Reading
STARTUP_MODE = _optional(
    "scan.startup.mode",
    choice("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets"),
    "Where a new stream begins; `group-offsets` if `properties.group.id` is given, else `earliest-offset`. A partition"
    " without a committed offset begins at its beginning.",
)
STARTUP_OFFSETS = _optional(
    "scan.startup.specific-offsets",
    TEXT,
    'The offsets for `specific-offsets`: `partition:0,offset:42;partition:1,offset:300`, or `{"topic": {"0": 42}}`.'
    " Partitions that are not named begin at their beginning.",
)
STARTUP_TIMESTAMP = _optional("scan.startup.timestamp-millis", TIME, "The time for `timestamp`.")
BOUNDED_MODE = _row(
    "scan.bounded.mode",
    choice("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets"),
    "unbounded",
    "Where a stream ends, as seen when it begins; a batch read ends with what there is.",
)
BOUNDED_OFFSETS = _optional("scan.bounded.specific-offsets", TEXT, "The offsets that are no longer read.")
BOUNDED_TIMESTAMP = _optional("scan.bounded.timestamp-millis", TIME, "The time from which rows are no longer read.")
DISCOVERY_INTERVAL = _row(
    "scan.topic-partition-discovery.interval",
    DURATION,
    10_000,
    "How often new partitions, and new topics of a pattern, are looked for; they are read from their beginning.",
)
MAX_ROWS = _optional("scan.max-rows-per-trigger", _ROWS, "Rows one micro-batch reads at most, of all partitions.")
SPLIT_ROWS = _row("scan.split.rows", _ROWS, 1_000_000, "Rows one task reads at most.")
FAIL_ON_DATA_LOSS = KAFKA_OPTIONS.switch(
    "scan.fail-on-data-loss",
    "Whether a stream ends with an error when rows it has not read are gone: by retention, or with their topic. If not,"
    " it goes on with what there is.",
    default=True,
)
ON_ERROR = _optional(
    "scan.on-error",
    choice("fail", "skip", "dead-letter"),
    "What becomes of a message that cannot be read: the stream ends with an error that names it (the default), it is"
    " left out and counted, or it goes into a table with its bytes and the reason.",
)
DEAD_LETTER_TABLE = _optional(
    "scan.dead-letter.table",
    TEXT,
    "The table for such messages, `db.table`; it is made where it is absent, with a primary key of topic, partition and"
    " offset, so that a message is in it once.",
)
DEAD_LETTER_SERVERS = _optional("scan.dead-letter.bootstrap.servers", TEXT, "The servers of that table.")
ERROR_COLUMN = _optional(
    "scan.error-column",
    TEXT,
    "A STRING column of the schema: messages that cannot be read come as rows that have the reason in it, and nothing"
    " else.",
)
METADATA = _optional(
    "scan.metadata",
    LIST,
    "Columns of the schema that are not in messages: `offset`, or `offset:column` under another name; topic, partition,"
    " offset, timestamp, timestamp-type, headers, leader-epoch, key, value.",
)
UPSERT = KAFKA_OPTIONS.switch(
    "scan.upsert", "Whether a message without a value is the delete of its key, and others are upserts.", default=False
)
INCLUDE_HEADERS = KAFKA_OPTIONS.switch("includeHeaders", "Whether Kafka's own columns have headers among them.")
AWAY_TIMEOUT = _row("scan.away-timeout", DURATION, 300_000, "How long brokers that cannot be reached are waited for.")

# Writing
DELIVERY = _optional(
    "sink.delivery-guarantee",
    choice("none", "at-least-once", "exactly-once"),
    "`exactly-once`: a micro-batch is one transaction. `at-least-once`: it may come twice after a failure. Without it,"
    " exactly once where the broker has transactions, else at least once; a job says which when it starts.",
)
TRANSACTIONAL_PREFIX = _row(
    "sink.transactional-id-prefix",
    TEXT,
    "lakeward",
    "What the ids of transactions begin with; the id of the stream follows.",
)
PARTITIONER = _row(
    "sink.partitioner",
    choice("default", "round-robin"),
    "default",
    "`default`: rows of a key go to the partition that Java's producers choose for it. `round-robin`: to any.",
)
TRANSACTION_TIMEOUT = _row(
    "sink.transaction-timeout", DURATION, 600_000, "How long a transaction may take; brokers allow 15 minutes at most."
)

KAFKA_OPTIONS.inert("sink.parallelism", COUNT)
KAFKA_OPTIONS.inert("scan.parallelism", COUNT)
KAFKA_OPTIONS.inert("sink.buffer-flush.max-rows")
KAFKA_OPTIONS.inert("sink.buffer-flush.interval")
KAFKA_OPTIONS.inert("scan.watermark.idle-timeout")
KAFKA_OPTIONS.open_prefix(
    PROPERTIES,
    "Settings of the client, by their names in Kafka: `properties.security.protocol`, `properties.sasl.mechanism`,"
    " `properties.sasl.username`, `properties.sasl.password`, `properties.ssl.ca.location` … They are never printed.",
)
KAFKA_OPTIONS.adopt(FORMAT_OPTIONS)
for _prefix in FORMAT_PREFIXES:
    KAFKA_OPTIONS.open_prefix(f"key.{_prefix}", f"Settings of the format `{_prefix[:-1]}` of keys, as above.")
    KAFKA_OPTIONS.open_prefix(f"value.{_prefix}", f"Settings of the format `{_prefix[:-1]}` of values, as above.")

_alias("subscribe", TOPIC)
_alias("subscribePattern", TOPIC_PATTERN)
_alias("maxRowsPerTrigger", MAX_ROWS)
_alias("maxOffsetsPerTrigger", MAX_ROWS)
_alias("failOnDataLoss", FAIL_ON_DATA_LOSS)
