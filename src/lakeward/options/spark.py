"""Rows for the Spark connector: what `.option(…)`, `OPTIONS (…)` and `WITH (…)` may say.

Spark does not keep the case of option names, so names are compared without it. Options named `client.*` belong to the
connection and are checked against its rows. `redact` says what plans, logs and messages may print of them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.client import BOOTSTRAP_SERVERS as _BOOTSTRAP_SERVERS
from lakeward.options.client import CLIENT_OPTIONS
from lakeward.options.kinds import DURATION, INT64_MAX, LIST, SIZE, TEXT, Kind, choice, integer
from lakeward.options.option import OptionTable, Scope
from lakeward.options.secrets import is_reference

CLIENT_PREFIX = "client."
LAKE_PREFIX = "lake."
_SECRET_PREFIX = "client.security."  # noqa: S105 - the name of a family of options
_SECRET_WORDS = (
    *("password", "secret", "token", "credential", "jaas", "access-key", "access.key", "accesskey"),
    *("ssl.key.pem", "keystore.key"),
)
#: Spark repeats the options of CREATE TABLE under these names.
_TABLE_OPTION_PREFIX = "option."
_REDACTED = "*****"
_ROWS = integer(low=1, high=INT64_MAX)

#: Options that are Spark's own; they come with ours and mean nothing to the connector.
SPARK_OWN = (
    "checkpointLocation",
    "queryName",
    "outputMode",
    "mergeSchema",
    "__partition_columns",
    "provider",
    "location",
    "external",
    "is_managed_location",
    "owner",
    "comment",
    "transient_lastDdlTime",
)


def _parse_time(text: str) -> int:
    word = text.strip()
    if re.fullmatch(r"\d{1,18}", word, re.ASCII):
        return int(word)
    try:
        moment = datetime.fromisoformat(word)
    except ValueError:
        raise ValueError(
            f"'{text}' is neither milliseconds since 1970 nor a time such as 2026-11-01T00:00:00Z"
        ) from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


TIME = Kind("time", _parse_time)

SPARK_OPTIONS = OptionTable(Scope.SPARK)
_row, _optional, _switch = SPARK_OPTIONS.row, SPARK_OPTIONS.optional, SPARK_OPTIONS.switch
_alias = SPARK_OPTIONS.alias

# Which table
BOOTSTRAP_SERVERS = _row("bootstrap.servers", LIST, _BOOTSTRAP_SERVERS.default, _BOOTSTRAP_SERVERS.doc)
TABLE = _optional(
    "table",
    TEXT,
    "The table, `db.table`; with `$changelog` or `$binlog` after it, its changes, with `$lake` what its lake has.",
)

# Reading
STARTUP_MODE = _row(
    "scan.startup.mode",
    choice("full", "earliest", "latest", "timestamp", "group"),
    "full",
    "Where a new stream begins: the rows there are and then every change, the oldest change, only what comes from now"
    " on, the changes since scan.startup.timestamp, or where properties.group.id got to.",
)
STARTUP_TIMESTAMP = _optional(
    "scan.startup.timestamp",
    TIME,
    "The time for scan.startup.mode=timestamp: milliseconds since 1970, or 2026-11-01T00:00:00Z (UTC without a zone).",
)
SPLIT_ROWS = _optional(
    "scan.split.rows", _ROWS, "Rows one task reads at most; without it, large buckets are cut evenly."
)
SCAN_DELETES = _row(
    "scan.deletes",
    choice("fail", "ignore"),
    "fail",
    "What a stream of rows does with a delete, which it cannot show: end with an error that says so, or leave it out."
    " `$changelog` shows deletes.",
)
SCAN_TIERS = _row(
    "scan.tiers",
    choice("all", "log", "lake"),
    "all",
    "What a read of a table with a lake sees: lake and log as one table, or only one of the two. A stream in full mode"
    " begins with the lake, or with `log` with what the log has.",
)
SNAPSHOT_ID = _optional(
    "scan.snapshot-id", integer(low=0, high=INT64_MAX), "Read the table as a snapshot of its lake has it."
)
TAG = _optional("scan.tag", TEXT, "Read the table as the snapshot of its lake that has this tag.")
AS_OF = _optional(
    "scan.timestamp-millis",
    TIME,
    "Read the table as it was at a time: milliseconds since 1970, or 2026-11-01T00:00:00Z (UTC without a zone).",
)
MAX_ROWS = _optional("maxRowsPerTrigger", _ROWS, "Rows one micro-batch reads at most, in all buckets together.")
MAX_BYTES = _optional("maxBytesPerTrigger", SIZE, "Bytes one micro-batch reads at most, about.")
FAIL_ON_DATA_LOSS = _switch(
    "failOnDataLoss",
    "Whether a stream ends with an error when rows it has not read were removed by retention, or given up with"
    " `lakeward repair`; if not, it goes on with what is left.",
    default=True,
)
SKIP_DAMAGED = _switch(
    "scan.skip-damaged",
    "Whether rows of the log that cannot be read are left out, with a warning that names their offsets; if not, they"
    " are an error.",
    default=False,
)
GROUP_ID = _optional("properties.group.id", TEXT, "The consumer group whose offsets a stream commits.")
AUTO_COMMIT = _switch(
    "enable.auto.commit", "Whether a stream commits its group's offsets after each micro-batch.", default=True
)

# Writing
SINK_COLUMNS = _optional(
    "sink.columns", LIST, "The columns to write (partial update), the primary key among them; others keep their values."
)
SINK_CHANGE_TYPE = _optional(
    "sink.change-type-column",
    TEXT,
    "The column that says what becomes of a row: +I, +U, -U, -D, or insert, update_before, update_after, delete.",
)
SINK_CUT_TIMES = _switch(
    "sink.timestamps.cut",
    "Whether a TIMESTAMP with more digits than its column loses them, as in Flink; otherwise it is an error.",
)
SINK_STAGING_DIR = _optional(
    "sink.staging.dir",
    TEXT,
    "Where rows wait until they are committed: a path or URI that driver and executors share. A stream's default is its"
    " checkpoint; a batch write on a local master takes a temporary directory.",
)
PARTITION_OVERWRITE = _row(
    "partitionOverwriteMode",
    choice("static", "dynamic"),
    "static",
    "What an overwrite replaces: all partitions, or those that rows are written to.",
)

# Lookup joins
LOOKUP_CACHE_ROWS = _row("lookup.cache.rows", integer(low=0, high=INT64_MAX), 100_000, "Rows a task's cache holds.")
LOOKUP_CACHE_TTL = _row("lookup.cache.ttl", DURATION, 60_000, "How long a row in the cache is believed.")


def _offsets_word(text: str) -> str:
    return choice("earliest", "latest").parse(text)


_alias("path", TABLE)
_alias("dbtable", TABLE)
_alias("group.id", GROUP_ID)
_alias("kafka.group.id", GROUP_ID)
_alias("kafka.bootstrap.servers", BOOTSTRAP_SERVERS)
_alias("startingOffsets", STARTUP_MODE, _offsets_word)
_alias("maxOffsetsPerTrigger", MAX_ROWS)

SPARK_OPTIONS.open_prefix(CLIENT_PREFIX, "Passed to the client: see options.md. Secrets among them are never printed.")
SPARK_OPTIONS.open_prefix(
    LAKE_PREFIX, "Properties of the lake's catalog, by the names of its library; they win over the table's own."
)

_BY_LOWER = {name.lower(): name for name in (*SPARK_OPTIONS.rows, *SPARK_OPTIONS.aliases, *CLIENT_OPTIONS.rows)}
_OWN_LOWER = frozenset(name.lower() for name in SPARK_OWN)


def connector_options(given: Mapping[str, str]) -> dict[str, str]:
    """Options under their own names, checked; Spark's own are left out. INVALID_CONFIG says what is wrong and why."""
    options: dict[str, str] = {}
    for key, value in given.items():
        key = key.removeprefix(_TABLE_OPTION_PREFIX)
        if key.lower() in _OWN_LOWER:
            continue
        name, text = _canonical(key, str(value))
        if options.get(name, text) != text:
            raise ErrorCode.INVALID_CONFIG.error(f"The option '{name}' is given twice, with different values.")
        _check_value(name, text)
        options[name] = text
    _check_together(options)
    return options


def client_options(options: Mapping[str, str]) -> dict[str, str]:
    """Those of the connection: `client.*`."""
    return {key: value for key, value in options.items() if key.startswith(CLIENT_PREFIX)}


def lake_options(options: Mapping[str, str]) -> dict[str, str]:
    """Those of the lake's catalog, `lake.*`, without the prefix."""
    return {key.removeprefix(LAKE_PREFIX): value for key, value in options.items() if key.startswith(LAKE_PREFIX)}


def redact(options: Mapping[str, str]) -> dict[str, str]:
    """Options as plans, logs and messages may print them: whatever is or looks secret is starred out.

    Where a secret is kept is no secret.
    """
    return {
        key: _REDACTED if is_secret(key) and not is_reference(str(value)) else str(value)
        for key, value in options.items()
    }


def is_secret(key: str) -> bool:
    """Whether an option is or looks secret."""
    lower = key.lower()
    row = CLIENT_OPTIONS.rows.get(lower)
    if row is not None:
        return row.secret
    return lower.startswith(_SECRET_PREFIX) or any(word in lower for word in _SECRET_WORDS)


def _canonical(key: str, value: str) -> tuple[str, str]:
    name = _BY_LOWER.get(key.lower())
    if name is None and key.lower().startswith(LAKE_PREFIX):
        return LAKE_PREFIX + key[len(LAKE_PREFIX) :], value
    if name is None:
        raise _unknown(key)
    return SPARK_OPTIONS.canonical(name, value)


def _check_value(name: str, text: str) -> None:
    if name.startswith(LAKE_PREFIX):
        return
    row = SPARK_OPTIONS.rows.get(name) or CLIENT_OPTIONS.rows[name]
    try:
        row.kind.parse(text)
    except (ValueError, OverflowError) as wrong:
        reason = "its value cannot be read" if is_secret(name) else wrong
        raise ErrorCode.INVALID_CONFIG.error(f"The option '{name}' is wrong: {reason}.") from None


def _check_together(options: Mapping[str, str]) -> None:
    mode = STARTUP_MODE.read(options)
    for needed, option in (("timestamp", STARTUP_TIMESTAMP), ("group", GROUP_ID)):
        if mode == needed and option.key not in options:
            raise ErrorCode.INVALID_CONFIG.error(f"scan.startup.mode={needed} needs the option '{option.key}' too.")
    travels = [option.key for option in (SNAPSHOT_ID, TAG, AS_OF) if option.key in options]
    if len(travels) > 1:
        raise ErrorCode.INVALID_CONFIG.error(f"A table is read as of one point: give {' or '.join(travels)}, not both.")


def _unknown(key: str) -> LakewardError:
    close = difflib.get_close_matches(key.lower(), _BY_LOWER, n=1, cutoff=0.0)[0]
    return ErrorCode.INVALID_CONFIG.error(
        f"'{key[:120]}' is not an option of the Spark connector; did you mean '{_BY_LOWER[close]}'?"
    )
