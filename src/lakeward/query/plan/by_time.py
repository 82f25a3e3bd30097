"""A log table as of a time whose log is gone: rows have their times in the lake too.

Every row of the newest snapshot that is not younger than the time, and what the log has of that age after it. A pure
function of what the lake and the log say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from lakeward.client.forms.results import BucketId
from lakeward.lake.port import Bounds, LakeFile, LakeSnapshot, PlacedFile
from lakeward.lake.rows.system_columns import TIMESTAMP
from lakeward.model.partition import name_of_values
from lakeward.model.table import TableInfo
from lakeward.query.lake.file_pruning import may_match
from lakeward.query.plan.plan import log_splits
from lakeward.query.plan.splits import LakeRangeSplit, OffsetWindow, Split
from lakeward.query.request.pushdown import keeps_partition, partition_values
from lakeward.query.request.request import ReadRequest

_FOR_EVER = 2**63 - 1
_MICROS_PER_MS = 1000


def splits_by_time(
    info: TableInfo,
    format_name: str,
    snapshot: LakeSnapshot,
    files: Iterable[PlacedFile],
    ends: Mapping[BucketId, int],
    ranges: Mapping[BucketId, tuple[int, int]],
    request: ReadRequest,
) -> list[Split] | None:
    """The splits of such a read; None where the log begins after the snapshot's end, so that rows are missing.

    `ends` is how far the snapshot is with each bucket, `ranges` where each log begins and where it was at that time.
    """
    if any(start > ends.get(id_, 0) for id_, (start, _) in ranges.items()):
        return None
    until_ms = request.settings.as_of_ms
    assert until_ms is not None
    found: dict[str | None, list[LakeFile]] = defaultdict(list)
    for placed in files:
        values = placed.place.partition_values
        spec = dict(zip(info.descriptor.partition_keys, values, strict=True))
        if keeps_partition(request.filters, partition_values(info.schema, spec)) and (
            _is_as_old(placed, until_ms) and may_match(request.filters, placed.bounds)
        ):
            found[name_of_values(values) if values else None].append(placed.file)
    known = {id_.partition for id_ in ends}
    splits: list[Split] = []
    for partition, group in found.items():
        own = [OffsetWindow(id_.bucket, 0, end) for id_, end in ends.items() if id_.partition == partition]
        if partition is not None and partition not in known:  # dropped since: all that the lake has of it
            own = [OffsetWindow(bucket, 0, _FOR_EVER) for bucket in range(info.bucket_count)]
        if own:
            splits.append(
                LakeRangeSplit(partition, format_name, snapshot.snapshot_id, tuple(group), tuple(own), until_ms)
            )
    tails = {id_: (ends.get(id_, start), stop) for id_, (start, stop) in ranges.items()}
    return [*splits, *log_splits(tails, request)]


def _is_as_old(placed: PlacedFile, until_ms: int) -> bool:
    low = placed.bounds.get(TIMESTAMP, Bounds()).low
    return low is None or _micros(low) <= (until_ms + 1) * _MICROS_PER_MS


def _micros(value: object) -> int:
    """Bounds of times are numbers or datetimes, as the format has them; anything else is not known."""
    if isinstance(value, int):
        return value
    stamp = getattr(value, "timestamp", None)
    return 0 if stamp is None else int(stamp() * 1_000_000) - 1
