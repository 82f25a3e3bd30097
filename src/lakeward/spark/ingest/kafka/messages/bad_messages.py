"""Messages that cannot be read: an error that names the first, or rows of a dead-letter table, or left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode, LakewardError
from lakeward.formats.port import BadMessage
from lakeward.options.client import BOOTSTRAP_SERVERS
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.messages.message_columns import metadata_column
from lakeward.spark.table.connections import connection

_SHOWN_BYTES = 200
_COLUMNS = {
    "topic": "STRING NOT NULL",
    "partition": "INT NOT NULL",
    "offset": "BIGINT NOT NULL",
    "timestamp": "TIMESTAMP_LTZ(3)",
    "key": "BYTES",
    "value": "BYTES",
    "reason": "STRING",
}
_KEY = ("topic", "partition", "offset")
_ARROW = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("ms", tz="UTC"),
    "key": pa.binary(),
    "value": pa.binary(),
}


def on_error(options: Mapping[str, str]) -> str:
    """`fail`, `skip` or `dead-letter`; a format that is told to ignore errors skips."""
    given = rows.ON_ERROR.read(options)
    if given is not None:
        return given
    ignores = any(key.endswith(".ignore-parse-errors") and value.lower() == "true" for key, value in options.items())
    return "skip" if ignores else "fail"


class BadMessages:
    """What becomes of messages that cannot be read, as the options of a table say."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.mode = on_error(options)
        self._is_told = rows.ERROR_COLUMN.key in options
        self._path = rows.DEAD_LETTER_TABLE.read(options)
        if self.mode == "dead-letter" and self._path is None:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{rows.ON_ERROR.key}' = 'dead-letter' needs the option '{rows.DEAD_LETTER_TABLE.key}': db.table."
            )
        servers = rows.DEAD_LETTER_SERVERS.read(options)
        self._options = {} if servers is None else {BOOTSTRAP_SERVERS.key: servers}

    def prepare(self) -> None:
        """Make the table where it is absent; by the driver, before anything is read."""
        if self.mode == "dead-letter" and self._path is not None:
            conn = connection(self._options)
            conn.create_database(self._path.partition(".")[0], exist_ok=True)
            conn.create_table(self._path, _COLUMNS, primary_key=_KEY, buckets=1, exist_ok=True)

    def take(self, messages: Sequence[Any], bad: Sequence[BadMessage]) -> None:
        """Deal with some; they are rows of the dead-letter table when this returns, each once."""
        if not bad:
            return
        if self.mode == "fail" and not self._is_told:
            raise unreadable(messages[bad[0].index], bad[0].reason)
        if self.mode == "dead-letter" and self._path is not None:
            found = [messages[one.index] for one in bad]
            columns = {name: metadata_column(name, found, type_) for name, type_ in _ARROW.items()}
            batch = pa.table({**columns, "reason": pa.array([one.reason for one in bad], pa.string())})
            self._connection().table(self._path).upsert(batch)

    def _connection(self) -> Connection:
        return connection(self._options, expected=True)


def unreadable(message: Any, reason: str) -> LakewardError:
    """The error that names a message."""
    value = message.value() or b""
    shown = value[:_SHOWN_BYTES].decode("utf-8", "backslashreplace").replace("\n", "\\n")
    more = f" … ({len(value):,} bytes)" if len(value) > _SHOWN_BYTES else ""
    return ErrorCode.CORRUPT_RECORD.error(
        f"A message of topic '{message.topic()}', partition {message.partition()}, offset {message.offset()} cannot be"
        f" read: {reason.rstrip('.')}. It begins: {shown}{more}. Set '{rows.ON_ERROR.key}' to 'skip' or 'dead-letter'"
        " to go on without it."
    )
