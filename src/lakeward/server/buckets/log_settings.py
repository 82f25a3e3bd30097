"""What a table's properties and the server's options say about its logs."""

from __future__ import annotations

from lakeward.model.table import TableInfo
from lakeward.options import server, table
from lakeward.options.server_options import ServerOptions
from lakeward.storage.log.settings import LogSettings


def log_settings(options: ServerOptions, info: TableInfo) -> LogSettings:
    """The numbers the logs of a table obey; what the table does not say, the server says."""
    properties = info.descriptor.properties
    roll_ms = table.LOG_ROLL_INTERVAL.read(properties) or options.get(server.LOG_ROLL_INTERVAL)
    delay_ms = table.LOG_DELETE_DELAY.read(properties)
    local_ttl_ms = table.LOG_LOCAL_TTL.read(properties)
    return LogSettings(
        segment_bytes_max=table.LOG_SEGMENT_BYTES.read(properties) or options.get(server.LOG_SEGMENT_SIZE),
        index_interval_bytes=options.get(server.LOG_INDEX_INTERVAL),
        roll_interval_ms=roll_ms or -1,
        ttl_ms=table.LOG_TTL.read(properties),
        retention_bytes=table.LOG_RETENTION_BYTES.read(properties) or -1,
        local_ttl_ms=-1 if local_ttl_ms is None else local_ttl_ms,
        local_segments=table.LOG_LOCAL_SEGMENTS.read(properties),
        delete_delay_ms=options.get(server.LOG_DELETE_DELAY) if delay_ms is None else delay_ms,
        roll_expired_active_segment=options.get(server.LOG_ROLL_EXPIRED),
        writer_expiration_ms=options.get(server.WRITER_EXPIRATION_TIME),
        writers_max=options.get(server.WRITERS_MAX),
        flush_interval_messages=options.get(server.LOG_FLUSH_MESSAGES),
    )
