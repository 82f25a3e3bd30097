"""How many bytes a plan's half of the log is, about: by the rows at the start of its longest stretch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lakeward.client.forms.results import BucketId
from lakeward.errors import LakewardError
from lakeward.query.plan.plan import Plan
from lakeward.query.plan.splits import LakeSplit, LogSplit

if TYPE_CHECKING:
    from lakeward.client.blocking.sync_table import Table

#: Bytes of a row at places of logs that were looked at. What is there stays, and an answer has whole batches.
_SEEN: dict[tuple[str, int, BucketId, int], float] = {}
_SEEN_MAX = 10_000


def with_log_bytes(table: Table, plan: Plan) -> Plan:
    """The same plan, which says what to expect of the log; one look at the server for each place."""
    offsets = plan.summary.log_offsets
    row_bytes = _row_bytes(table, plan) if offsets else 0.0
    if row_bytes is None:
        return plan
    return replace(plan, summary=replace(plan.summary, log_bytes=round(offsets * row_bytes)))


def _row_bytes(table: Table, plan: Plan) -> float | None:
    stretches = [stretch for split in plan.splits if (stretch := _stretch(split)) is not None]
    if not stretches:
        return None
    id_, start, _ = max(stretches, key=lambda stretch: stretch[2] - stretch[1])
    key = (str(table.path), table.info.table_id, id_, start)
    if key in _SEEN:
        return _SEEN[key]
    try:
        seen = table.peek(id_, start)
    except LakewardError:
        return None  # retention was faster, or the server is away: the read itself will say it better
    if seen is None or not seen.rows:
        return None
    if len(_SEEN) >= _SEEN_MAX:
        _SEEN.clear()
    return _SEEN.setdefault(key, seen.bytes / seen.rows)


def _stretch(split: object) -> tuple[BucketId, int, int] | None:
    match split:
        case LogSplit():
            return split.id, split.start, split.stop
        case LakeSplit() if split.log_offsets:
            return split.id, split.log_start, split.log_stop
        case _:
            return None
