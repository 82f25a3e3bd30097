"""Options that every captured database has, whatever its kind; by the names of Flink CDC."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.capture.stream import Startup, StreamSettings
from lakeward.options.kinds import DURATION, TEXT, Kind, integer
from lakeward.options.option import OptionTable, Scope

STREAM_OPTIONS = OptionTable(Scope.CONNECTOR)


def _parse_mode(text: str) -> str:
    word = text.strip().lower()
    if word not in set(Startup):
        raise ValueError(
            f"'{text}' is not possible: the log of a database is read only from where a stream of ours began. Choose "
            f"{', '.join(Startup)}"
        )
    return word


STARTUP_MODE = STREAM_OPTIONS.row(
    "scan.startup.mode",
    Kind(f"one of {', '.join(Startup)}", _parse_mode),
    Startup.INITIAL.value,
    "What a new stream begins with: `initial`, the rows there are and then every change; `snapshot`, the rows there are"
    " and nothing else; `latest-offset`, only what is committed from now on.",
)
CHUNK_ROWS = STREAM_OPTIONS.row(
    "scan.incremental.snapshot.chunk.size",
    integer(low=1),
    StreamSettings().chunk_rows,
    "Rows of a table that are copied at a time; a task holds so many in memory.",
)
AWAY_TIMEOUT = STREAM_OPTIONS.row(
    "scan.away-timeout", DURATION, 300_000, "How long a stream waits for a database that is away before it fails."
)
for _key in ("scan.incremental.snapshot.enabled", "scan.snapshot.fetch.size", "connection.pool.size"):
    STREAM_OPTIONS.inert(_key, TEXT)
for _key in ("connect.max-retries", "heartbeat.interval", "scan.incremental.close-idle-reader.enabled"):
    STREAM_OPTIONS.inert(_key, TEXT)
STREAM_OPTIONS.open_prefix("debezium.", "Accepted, and nothing reads them: there is no Debezium here.")


def stream_settings(options: Mapping[str, str]) -> StreamSettings:
    """How a database is followed; a mode that nothing can do here is refused."""
    return StreamSettings(Startup(STARTUP_MODE.read(options)), CHUNK_ROWS.read(options))
