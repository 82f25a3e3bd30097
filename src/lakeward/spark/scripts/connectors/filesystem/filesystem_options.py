"""Rows of the connector `filesystem`, by the names that other systems have for them."""

from __future__ import annotations

from lakeward.options.kinds import DURATION, TEXT, choice
from lakeward.options.option import OptionTable, Scope

FILESYSTEM_OPTIONS = OptionTable(Scope.CONNECTOR)
_optional, _switch, _row = FILESYSTEM_OPTIONS.optional, FILESYSTEM_OPTIONS.switch, FILESYSTEM_OPTIONS.row

PATH = _optional("path", TEXT, "The directory: a local path, or `s3a://…` where Spark can reach it. Always needed.")
FORMAT = _optional(
    "format",
    choice("csv", "json", "parquet", "orc", "avro", "text", "raw"),
    "What the files hold; `text` and `raw` are one column, a line each. `avro` needs Spark's Avro package. Always"
    " needed.",
)
MONITOR_INTERVAL = _optional(
    "source.monitor-interval",
    DURATION,
    "A stream looks for new files for ever, at each of its triggers; without it, it ends with the files there are.",
)

CSV_DELIMITER = _row("csv.field-delimiter", TEXT, ",", "What stands between two fields; `\\t` is a tab.")
CSV_QUOTE = _row("csv.quote-character", TEXT, '"', "What stands around a field that has the delimiter in it.")
CSV_NO_QUOTE = _switch("csv.disable-quote-character", "Whether there are no quotes.")
CSV_ESCAPE = _optional(
    "csv.escape-character", TEXT, "What stands before a quote in a quoted field; without it, a quote is written twice."
)
CSV_HEADER = _switch("csv.header", "Whether the first line of a file names the columns; fields go by their order.")
CSV_SPLIT = _switch(
    "csv.split-files",
    "Whether several tasks may read one file; then no field may have a line break in it.",
)
CSV_NULL = _optional("csv.null-literal", TEXT, "What NULL is written as; without it, as nothing.")
CSV_COMMENTS = _switch("csv.allow-comments", "Whether lines that begin with # are left out.")
_IGNORE = "Whether a field that cannot be read is NULL, and a row of which nothing can be read left out; else an error."
CSV_IGNORE = _switch("csv.ignore-parse-errors", _IGNORE)
JSON_IGNORE = _switch("json.ignore-parse-errors", _IGNORE)
_row("json.fail-on-missing-field", choice("false"), "false", "A field that is not in a line is NULL; never an error.")
JSON_TIMESTAMPS = _row(
    "json.timestamp-format.standard",
    choice("SQL", "ISO-8601"),
    "SQL",
    "How times are written: `2026-11-01 00:00:00.000`, or with a T in between. Both are read.",
)
for _key in (
    *("sink.parallelism", "sink.rolling-policy.file-size", "sink.rolling-policy.rollover-interval"),
    *("sink.rolling-policy.check-interval", "sink.shuffle-by-partition.enable", "partition.default-name"),
    *("sink.partition-commit.trigger", "sink.partition-commit.delay", "sink.partition-commit.policy.kind"),
    *("sink.partition-commit.watermark-time-zone", "sink.partition-commit.success-file.name", "auto-compaction"),
    *("compaction.file-size", "partition.time-extractor.kind", "partition.time-extractor.timestamp-pattern"),
    *("source.report-statistics", "json.encode.decimal-as-plain-number", "json.map-null-key.mode"),
    *("json.map-null-key.literal", "csv.array-element-delimiter", "csv.write-bigdecimal-in-scientific-notation"),
):
    FILESYSTEM_OPTIONS.inert(_key)
for _family in ("parquet.", "orc.", "avro."):
    FILESYSTEM_OPTIONS.open_prefix(_family, "Passed to the format, without the beginning of the name.")
