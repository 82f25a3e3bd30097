"""lakeward verify against a running cluster: log, state and lake of each table, compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lakeward.cli.input.failures import sentence
from lakeward.cli.input.session import Session
from lakeward.cli.output.listing import count, say, say_error, show_json, show_listing
from lakeward.cli.output.read_progress import ReadProgress
from lakeward.errors import LakewardError

if TYPE_CHECKING:
    from lakeward.agreement.report import Difference, TableReport, Wanted
    from lakeward.client.blocking.sync import Connection

_COLUMNS = ("table", "buckets", "log_rows", "state_rows", "lake_rows", "differences")


def verify_cluster(
    session: Session, tables: Sequence[str], wanted: Wanted, lake: Mapping[str, str], output: str
) -> bool:
    """Read and compare tables, all of them if none are named; whether every one agrees with itself."""
    with session.connect() as connection:
        names = list(tables) or [f"{d}.{t}" for d in connection.databases() for t in connection.tables(d)]
        for name in tables:
            connection.table(name)  # a wrong name is told before hours of reading
        reports, failures = _check_all(connection, names, wanted, lake)
    if output == "json":
        show_json({"tables": [_as_node(report) for report in reports], "unread": failures})
    else:
        _show(reports, failures)
    return not failures and not any(report.differences for report in reports)


def _check_all(
    connection: Connection, names: Sequence[str], wanted: Wanted, lake: Mapping[str, str]
) -> tuple[list[TableReport], dict[str, str]]:
    from lakeward.agreement.table_check import check_table

    reports, failures = [], {}
    with ReadProgress("rows") as progress:
        for name in names:
            move = partial(_move, progress, name)
            try:
                reports.append(check_table(connection, connection.table(name), wanted, lake, move))
            except LakewardError as wrong:  # the others are still worth a look
                failures[name] = sentence(wrong)
    return reports, failures


def _move(progress: ReadProgress, name: str, what: str, rows: int) -> None:
    progress.move(f"{name}, {what}", rows)


def _show(reports: Sequence[TableReport], failures: Mapping[str, str]) -> None:
    rows = [{**_as_node(report), "differences": len(report.differences)} for report in reports]
    show_listing(rows, _COLUMNS, "table", "There are no tables.", numbers=_COLUMNS[1:])
    for report in reports:
        for one in report.differences:
            say_error(f"{one}.")
    for name, why in failures.items():
        say_error(f"{name} could not be read: {why}")
    for report in reports:
        for note in report.notes:
            say(f"Note: {note.rstrip('.')}.")
    wrong = sum(len(report.differences) for report in reports)
    agreed = f"{count(wrong, 'difference')}" if wrong else "everything that was compared says the same"
    unread = f", {count(len(failures), 'table')} could not be read" if failures else ""
    say(f"{count(len(reports), 'table')} read, {sum(r.log_rows for r in reports):,} rows of the log: {agreed}{unread}.")


def _as_node(report: TableReport) -> dict[str, Any]:
    return {
        "table": str(report.path),
        "buckets": report.buckets,
        "log_rows": report.log_rows,
        "state_rows": report.state_rows,
        "lake_rows": report.lake_rows,
        "snapshot": report.snapshot_id,
        "differences": [_difference(one) for one in report.differences],
        "notes": report.notes,
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {
        "where": one.where,
        "partition": one.bucket.partition,
        "bucket": one.bucket.bucket,
        "offset": one.offset,
        "key": one.key,
        "file": one.file,
        "what": one.what,
        "remedy": one.remedy,
    }
