"""Which batch goes to which bucket."""

from __future__ import annotations

import pytest
from fake_cluster import table_info

from lakeward.client.forms.results import BucketId
from lakeward.client.staged.commit.planning import plan_parts
from lakeward.client.staged.parts.manifest import INLINE, StagedBatch
from lakeward.client.staged.parts.part import Entry, Part
from lakeward.errors import LakewardError

INFO = table_info()


def _part(
    *entries: Entry, file: str | None = None, table_id: int = INFO.table_id, columns: tuple[int, ...] = ()
) -> Part:
    data = b"" if file else bytes(sum(e.size for e in entries))
    return Part("db.t", table_id, columns, entries, file, data)


def test_batches_of_a_bucket_keep_the_order_of_the_parts() -> None:
    """Inline ones are found behind each other in the manifest, others in their files."""
    plan = plan_parts(
        [
            _part(Entry(None, 0, 0, 10, 1), Entry(None, 0, 10, 5, 2)),
            _part(Entry(None, 0, 0, 7, 3), file="/f"),
            _part(Entry(None, 0, 0, 2, 4)),
        ],
        INFO,
        0,
    )
    expected = [
        StagedBatch(INLINE, 0, 10, 1),
        StagedBatch(INLINE, 10, 5, 2),
        StagedBatch(0, 0, 7, 3),
        StagedBatch(INLINE, 15, 2, 4),
    ]
    assert plan.batches == {BucketId(None, 0): expected}
    assert (plan.rows, plan.size_bytes, plan.files, len(plan.data)) == (10, 24, ("/f",), 17)


def test_batches_without_a_bucket_go_where_least_is() -> None:
    """Of each partition by itself; different batch ids begin at different buckets."""
    count = INFO.bucket_count
    entries = [Entry("p", None, 10 * i, 10, 1) for i in range(3 * count)]
    plan = plan_parts([_part(*entries)], INFO, 0)
    assert {b.bucket: len(found) for b, found in plan.batches.items()} == dict.fromkeys(range(count), 3)
    first = [next(iter(plan_parts([_part(entries[0])], INFO, n).batches)).bucket for n in range(count)]
    assert sorted(first) == list(range(count))


def test_parts_of_another_table_are_refused() -> None:
    """Its batches would be read wrongly."""
    with pytest.raises(LakewardError, match="created anew"):
        plan_parts([_part(Entry(None, 0, 0, 1, 1), table_id=INFO.table_id + 1)], INFO, 0)


def test_tasks_must_write_the_same_columns() -> None:
    """A request names its columns once."""
    parts = [_part(Entry(None, 0, 0, 1, 1), columns=c) for c in [(0, 1), (0,)]]
    with pytest.raises(LakewardError, match="different columns"):
        plan_parts(parts, INFO, 0)
