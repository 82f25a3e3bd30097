"""Rows a table may carry, and the names of older guides for them.

Names are those of Apache Fluss but for those marked "(Lakeward)", which have no counterpart there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.errors import ErrorCode
from lakeward.options.kinds import BOOL, DURATION, INT, INT64_MAX, RATIO, SIZE, TEXT, choice, integer
from lakeward.options.option import OptionTable, Scope, invalid_value

PREFIX = "table."
BUCKET_COUNT_ALIAS = "bucket.num"
_DAY_MS = 86_400_000

TABLE_OPTIONS = OptionTable(Scope.TABLE)
_row, _optional, _switch = TABLE_OPTIONS.row, TABLE_OPTIONS.optional, TABLE_OPTIONS.switch
_alias = TABLE_OPTIONS.alias

REPLICATION_FACTOR = _optional(
    "table.replication.factor", INT, "How many servers hold each bucket; filled in from default.replication.factor."
)
REMOTE_DATA_DIR = _optional(
    "table.remote.data.dir", TEXT, "Where this table's remote segments go; not yet honoured (Lakeward)."
)

LOG_FORMAT = _row(
    "table.log.format", choice("ARROW", "INDEXED", "COMPACTED"), "ARROW", "How rows are laid out in the log."
)
LOG_COMPRESSION = _row(
    "table.log.arrow.compression.type",
    choice("NONE", "LZ4_FRAME", "ZSTD"),
    "ZSTD",
    "How writers compress Arrow batches.",
)
LOG_ZSTD_LEVEL = _row("table.log.arrow.compression.zstd.level", INT, 3, "Compression level for ZSTD, 1 to 22.")
LOG_TTL = _row(
    "table.log.ttl", DURATION, 7 * _DAY_MS, "How long records are kept; 0 keeps them for ever.", dynamic=True
)
LOG_LOCAL_TTL = _optional(
    "table.log.local-ttl", DURATION, "How long segments that are also in remote storage stay local.", dynamic=True
)
LOG_LOCAL_SEGMENTS = _row(
    "table.log.tiered.local-segments",
    INT,
    2,
    "How many segments stay local once they are in remote storage.",
    dynamic=True,
)
LOG_RETENTION_BYTES = _optional(
    "table.log.retention.bytes",
    SIZE,
    "Size above which a bucket's oldest segments are deleted; 0 is no limit (Lakeward).",
    dynamic=True,
)
LOG_SEGMENT_BYTES = _optional(
    "table.log.segment.file-size",
    SIZE,
    "Size at which a segment is rolled, if not the server's (Lakeward).",
    dynamic=True,
)
LOG_ROLL_INTERVAL = _optional(
    "table.log.roll-interval", DURATION, "Age at which a segment is rolled even if small (Lakeward).", dynamic=True
)
LOG_DELETE_DELAY = _optional(
    "table.log.segment.delete-delay",
    DURATION,
    "How long a retired segment's files stay on disk, for readers under way (Lakeward).",
    dynamic=True,
)

LOG_COMPACTION = _switch(
    "table.log.compaction.enabled",
    "Whether closed segments of a changelog keep only the last change of each key (Lakeward).",
    dynamic=True,
)
LOG_COMPACTION_INTERVAL = _row(
    "table.log.compaction.interval", DURATION, 600_000, "How often a changelog is compacted (Lakeward).", dynamic=True
)
LOG_COMPACTION_RATIO = _row(
    "table.log.compaction.min-cleanable-ratio",
    RATIO,
    0.5,
    "Share of overtaken changes at which a changelog is worth compacting (Lakeward).",
    dynamic=True,
)
KV_FORMAT = _row("table.kv.format", choice("COMPACTED", "INDEXED"), "COMPACTED", "How rows are laid out in the state.")
KV_FORMAT_VERSION = _optional("table.kv.format-version", INT, "How keys are encoded; filled in at creation.")
KV_STANDBY = _optional(
    "table.kv.standby-replica.enabled", BOOL, "Whether a second server keeps the state warm.", dynamic=True
)
MERGE_ENGINE = _optional(
    "table.merge-engine", choice("first_row", "versioned", "aggregation"), "How a new row meets the old one of its key."
)
MERGE_VERSION_COLUMN = _optional(
    "table.merge-engine.versioned.ver-column", TEXT, "The column whose larger value wins in a versioned table."
)
DELETE_BEHAVIOR = _row(
    "table.delete.behavior", choice("ALLOW", "IGNORE", "DISABLE"), "ALLOW", "What happens to deletes of rows."
)
CHANGELOG_IMAGE = _row(
    "table.changelog.image", choice("FULL", "WAL"), "FULL", "Whether the changelog of an update holds the old row too."
)
AUTO_INCREMENT_CACHE = _row(
    "table.auto-increment.cache-size",
    integer(low=1, high=INT64_MAX),
    100_000,
    "How many ids of an auto-increment column are taken at once.",
)
STATISTICS_COLUMNS = _optional(
    "table.statistics.columns", TEXT, "Columns whose statistics travel with each batch, or *.", dynamic=True
)

AUTO_PARTITION = _switch(
    "table.auto-partition.enabled", "Whether partitions come and go with the calendar.", dynamic=True
)
AUTO_PARTITION_KEY = _optional("table.auto-partition.key", TEXT, "The partition key that holds the time.")
AUTO_PARTITION_UNIT = _row(
    "table.auto-partition.time-unit",
    choice("YEAR", "QUARTER", "MONTH", "DAY", "HOUR"),
    "DAY",
    "The time one partition covers.",
)
AUTO_PARTITION_FORMAT = _optional("table.auto-partition.time-format", TEXT, "The pattern of the time in the name.")
AUTO_PARTITION_ZONE = _optional("table.auto-partition.time-zone", TEXT, "The time zone; the server's when unset.")
AUTO_PARTITION_PRECREATE = _row(
    "table.auto-partition.num-precreate",
    INT,
    2,
    "How many partitions exist ahead, the current one included.",
    dynamic=True,
)
AUTO_PARTITION_RETENTION = _row(
    "table.auto-partition.num-retention",
    INT,
    7,
    "How many past partitions are kept; negative keeps all.",
    dynamic=True,
)

LAKE_FORMATS = choice("paimon", "lance", "iceberg", "hudi")
LAKE_ENABLED = _switch("table.datalake.enabled", "Whether the table is tiered into the lake.", dynamic=True)
LAKE_FORMAT = _optional("table.datalake.format", LAKE_FORMATS, "The lake format; filled in from the cluster's.")
LAKE_FRESHNESS = _row(
    "table.datalake.freshness", DURATION, 180_000, "How far the lake may lag behind the log.", dynamic=True
)
LAKE_AUTO_COMPACTION = _switch(
    "table.datalake.auto-compaction", "Whether tiering also compacts the lake table.", dynamic=True
)
LAKE_AUTO_EXPIRE = _switch("table.datalake.auto-expire-snapshot", "Whether tiering also expires old lake snapshots.")
LAKE_HISTORICAL = _switch(
    "table.datalake.historical-partition.enabled",
    "Whether lookups in expired partitions are answered from the lake.",
    dynamic=True,
)


def _whole(text: str, low: int = 0) -> int:
    return integer(low=low, high=INT64_MAX).parse(text)


def _hours_or_for_ever(text: str) -> str:
    return "0 ms" if _whole(text, -1) <= 0 else f"{_whole(text)} h"


def _bytes_or_no_limit(text: str) -> str:
    return f"{max(_whole(text, -1), 0)}b"


_alias("log.retention.hours", LOG_TTL, _hours_or_for_ever)
_alias("log.retention.bytes", LOG_RETENTION_BYTES, _bytes_or_no_limit)
_alias("log.segment.bytes", LOG_SEGMENT_BYTES, lambda text: f"{_whole(text, 1)}b")
_alias("log.roll.hours", LOG_ROLL_INTERVAL, lambda text: f"{_whole(text, 1)} h")
_alias("log.segment.delete.delay.ms", LOG_DELETE_DELAY, lambda text: f"{_whole(text)} ms")
_alias("log.compaction.enabled", LOG_COMPACTION)
_alias("log.compaction.interval.ms", LOG_COMPACTION_INTERVAL, lambda text: f"{_whole(text, 1)} ms")
_alias("log.compaction.min.cleanable.ratio", LOG_COMPACTION_RATIO)
_alias("table.replication-factor", REPLICATION_FACTOR)
_alias("log.tiering.interval.ms", LAKE_FRESHNESS, lambda text: f"{_whole(text)} ms")
_alias("remote.data.dir", REMOTE_DATA_DIR)


@dataclass(frozen=True, slots=True)
class CanonicalProperties:
    """A table's properties under their canonical names. `bucket_count` is set when an alias asked for one."""

    properties: dict[str, str]
    custom: dict[str, str]
    bucket_count: int | None


def canonical_properties(properties: Mapping[str, str], custom: Mapping[str, str]) -> CanonicalProperties:
    """Move what older guides call differently to where it belongs; both names with two values are refused."""
    own: dict[str, str] = {}
    left: dict[str, str] = {}
    bucket_count: int | None = None
    for source, rest in ((properties, own), (custom, left)):
        for key, value in source.items():
            if key == BUCKET_COUNT_ALIAS:
                bucket_count = integer_of(key, value)
            elif key in TABLE_OPTIONS.aliases:
                canonical, converted = TABLE_OPTIONS.canonical(key, value)
                if properties.get(canonical, converted) != converted or own.get(canonical, converted) != converted:
                    raise ErrorCode.INVALID_CONFIG.error(
                        f"'{key}' is another name for '{canonical}'; the two are given different values."
                    )
                own[canonical] = converted
            else:
                rest[key] = value
    return CanonicalProperties(own, left, bucket_count)


def integer_of(key: str, value: str) -> int:
    """A positive whole number, or INVALID_CONFIG."""
    try:
        return integer(low=1).parse(value)
    except ValueError as wrong:
        raise invalid_value(key, value, wrong) from wrong


def statistics_columns(properties: Mapping[str, str]) -> tuple[str, ...] | None:
    """The columns named for statistics; None when unset, ("*",) for all that can have them."""
    text = STATISTICS_COLUMNS.read(properties)
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())
