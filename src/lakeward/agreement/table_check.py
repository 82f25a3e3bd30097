"""One table read from end to end: do its log, its state and its lake say the same?"""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.agreement.key_check import KeyCheck
from lakeward.agreement.lake_side import LakeSide
from lakeward.agreement.log_check import LogCheck
from lakeward.agreement.report import Progress, TableReport, Wanted, ignore_progress
from lakeward.agreement.set_aside import letter_offsets
from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.options.table import LAKE_ENABLED
from lakeward.query.lake.cold_part import LakeUnavailableError

_ALL = Wanted()


def check_table(
    conn: Connection,
    table: Table,
    wanted: Wanted = _ALL,
    lake_options: Mapping[str, str] | None = None,
    progress: Progress = ignore_progress,
) -> TableReport:
    """Read all of a table; `lake_options` are those of a read, by which the lake is found."""
    report = TableReport(table.path)
    side = _side(conn, table, wanted, lake_options or {}, report)
    letters = {} if side is None else letter_offsets(conn, table.info)
    if table.info.descriptor.has_primary_key:
        KeyCheck(table, side, letters, report, wanted, progress).run()
    else:
        LogCheck(table, side, letters, report, progress).run()
    return report


def _side(
    conn: Connection, table: Table, wanted: Wanted, options: Mapping[str, str], report: TableReport
) -> LakeSide | None:
    if not wanted.lake or not (options or LAKE_ENABLED.read(table.info.descriptor.properties)):
        return None
    try:
        side = LakeSide.open(conn, table, options)
    except LakeUnavailableError as wrong:
        report.notes.append(f"{table.path}: the lake was not compared. {wrong.message}")
        return None
    if side is None:
        report.notes.append(f"{table.path}: nothing of it is in the lake yet")
        return None
    report.snapshot_id = side.snapshot_id
    return side
