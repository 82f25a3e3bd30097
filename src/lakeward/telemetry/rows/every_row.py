"""Every row there is, by part."""

from __future__ import annotations

from lakeward.telemetry.rows.jobs import JOB_ROWS
from lakeward.telemetry.rows.lake import LAKE_ROWS
from lakeward.telemetry.rows.process import PROCESS_ROWS
from lakeward.telemetry.rows.remote import REMOTE_ROWS
from lakeward.telemetry.rows.reporting import REPORTING_ROWS
from lakeward.telemetry.rows.requests import REQUEST_ROWS
from lakeward.telemetry.rows.security import SECURITY_ROWS
from lakeward.telemetry.rows.services import PIPELINE_ROWS, QUERY_ROWS, TIERING_ROWS
from lakeward.telemetry.rows.storage import STORAGE_ROWS
from lakeward.telemetry.rows.tables import TABLE_ROWS

#: What a server shows, and what others do.
SERVER_TABLES = (
    *(REQUEST_ROWS, TABLE_ROWS, STORAGE_ROWS, LAKE_ROWS, REMOTE_ROWS),
    *(SECURITY_ROWS, PROCESS_ROWS, REPORTING_ROWS),
)
SERVICE_TABLES = (TIERING_ROWS, PIPELINE_ROWS, JOB_ROWS, QUERY_ROWS)
#: By name; a name is there once.
EVERY_ROW = {row.name: row for table in (*SERVER_TABLES, *SERVICE_TABLES) for row in table}
assert len(EVERY_ROW) == sum(1 for table in (*SERVER_TABLES, *SERVICE_TABLES) for _ in table)
