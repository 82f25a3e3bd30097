"""Groups, and what a reset would do."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeward.client.blocking.groups import GroupBucket
from lakeward.client.forms.results import BucketId
from lakeward.console.pages.groups.group_view import BUCKETS_MAX, BucketRow, Move, moves_of, tables_of

AT = datetime.fromtimestamp(1_700_000_000, UTC)


def test_buckets_are_shown_table_by_table() -> None:
    """With the lag of each; a table that was dropped has none."""
    orders, gone = tables_of(
        [
            GroupBucket("shop.orders", BucketId("2026", 0), 5, 0, 20, AT),
            GroupBucket("shop.orders", BucketId("2026", 1), None, 10, 12, None),
            GroupBucket("shop.past", BucketId(None, 0), 5, None, None, AT),
        ]
    )
    assert (orders.lag, orders.is_gone) == (17, False)
    assert orders.buckets[0] == BucketRow("2026/0", 5, 0, 20, 15, 1_700_000_000_000)
    assert orders.buckets[1] == BucketRow("2026/1", None, 10, 12, 2, None)
    assert (gone.lag, gone.is_gone) == (0, True)


def test_only_so_many_buckets_are_shown_and_all_are_counted() -> None:
    """A page has its bounds."""
    (table,) = tables_of([GroupBucket("t.t", BucketId(None, n), 0, 0, 1, AT) for n in range(BUCKETS_MAX + 5)])
    assert (len(table.buckets), table.buckets_in_all, table.lag) == (BUCKETS_MAX, BUCKETS_MAX + 5, BUCKETS_MAX + 5)


def test_a_move_says_how_many_rows_come_again_or_never() -> None:
    """A bucket without a commit has no place to move from."""
    places = {BucketId(None, 0): 2, BucketId(None, 1): 9, BucketId(None, 2): 4}
    assert moves_of({BucketId(None, 0): 10, BucketId(None, 1): 8}, places) == [
        Move("0", 10, 2, -8),
        Move("1", 8, 9, 1),
        Move("2", None, 4, None),
    ]
