"""Remote storage: what is copied there, and what is still on its way. Only a Lakeward tells; see GET /remote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.options.secrets import without_passwords

_TABLES_MAX = 500
_BUCKETS_MAX = 1000


@dataclass(frozen=True, slots=True)
class CopyRow:
    """A table, one of its buckets, or all of them."""

    name: str
    local_segments: int
    local_bytes: int
    remote_segments: int
    remote_bytes: int
    lag_rows: int
    lag_bytes: int
    lag_s: float


@dataclass(frozen=True, slots=True)
class RemoteView:
    """What is copied."""

    store: str
    is_failing: bool
    reason: str
    failures: int
    waiting: int
    to_delete: int
    copied_segments: int
    copied_bytes: int
    total: CopyRow
    tables: tuple[CopyRow, ...]
    tables_in_all: int
    #: Of the table that was asked for.
    buckets: tuple[CopyRow, ...] = ()
    #: Servers that did not tell.
    silent: tuple[str, ...] = ()


async def show_remote(visit: Visit) -> Response:
    """The page."""
    table = visit.query("table")
    document = await visit.reports.remote(table)
    view = None if document is None else view_of(document)
    is_ours = view is not None or await visit.reports.health() is not None
    if view is None:
        await visit.connection()  # a cluster that is down is another matter
    return visit.show("remote_storage.html", view=view, is_ours=is_ours, table=table)


def view_of(document: Mapping[str, Any]) -> RemoteView:
    """What a server tells, with zeros for what it leaves out."""
    tables = [one for one in document.get("tables", []) if isinstance(one, Mapping)]
    return RemoteView(
        store=without_passwords(str(document.get("store", ""))),
        is_failing=bool(document.get("is_failing")),
        reason=without_passwords(str(document.get("reason") or "")),
        failures=_number(document, "failures"),
        waiting=_number(document, "buckets_waiting"),
        to_delete=_number(document, "files_to_delete"),
        copied_segments=_number(document, "copied_segments"),
        copied_bytes=_number(document, "copied_bytes"),
        total=_row("in all", document),
        tables=tuple(_row(str(one.get("table", "?")), one) for one in tables[:_TABLES_MAX]),
        tables_in_all=len(tables),
        silent=tuple(map(str, document.get("silent", ()))),
        buckets=tuple(_row(_bucket(one), one) for one in document.get("buckets", [])[:_BUCKETS_MAX]),
    )


def _row(name: str, numbers: Mapping[str, Any]) -> CopyRow:
    return CopyRow(
        name,
        _number(numbers, "local_segments"),
        _number(numbers, "local_bytes"),
        _number(numbers, "remote_segments"),
        _number(numbers, "remote_bytes"),
        _number(numbers, "lag_rows"),
        _number(numbers, "lag_bytes"),
        float(numbers.get("lag_seconds") or 0.0),
    )


def _bucket(one: Mapping[str, Any]) -> str:
    partition, bucket = one.get("partition"), one.get("bucket")
    return str(bucket) if partition is None else f"{partition}/{bucket}"


def _number(numbers: Mapping[str, Any], name: str) -> int:
    value = numbers.get(name)
    return int(value) if isinstance(value, int | float) else 0


PAGES = (Page("/remote", "Remote storage", show_remote, nav="Remote storage", position=50),)
