"""What a server tells of its copies, as the page shows it."""

from __future__ import annotations

from lakeward.console.pages.remote_storage import CopyRow, view_of

NUMBERS = {
    "local_segments": 2,
    "local_bytes": 20,
    "remote_segments": 3,
    "remote_bytes": 30,
    "lag_rows": 4,
    "lag_bytes": 40,
    "lag_seconds": 1.5,
}


def test_numbers_are_shown_by_table_and_in_all() -> None:
    """As the server has counted them."""
    view = view_of({"store": "/copies", **NUMBERS, "tables": [{"table": "shop.orders", **NUMBERS}]})
    assert view.tables == (CopyRow("shop.orders", 2, 20, 3, 30, 4, 40, 1.5),)
    assert (view.total.remote_bytes, view.tables_in_all, view.is_failing) == (30, 1, False)


def test_buckets_are_named_with_their_partition() -> None:
    """Where the table has some."""
    buckets = [{"partition": None, "bucket": 1, **NUMBERS}, {"partition": "2026", "bucket": 0, **NUMBERS}]
    assert [one.name for one in view_of({"buckets": buckets}).buckets] == ["1", "2026/0"]


def test_a_failure_is_told_without_passwords() -> None:
    """Neither in the place nor in the reason."""
    told = {
        "store": "s3://ann:hunter2@b/c",
        "is_failing": True,
        "reason": "s3://ann:hunter2@b/c is away",
        "failures": 3,
    }
    view = view_of(told)
    assert (view.store, view.reason, view.failures) == ("s3://b/c", "s3://b/c is away", 3)


def test_what_an_older_server_leaves_out_is_zero() -> None:
    """A page is shown all the same."""
    assert view_of({}).total == CopyRow("in all", 0, 0, 0, 0, 0, 0, 0.0)


def test_servers_that_do_not_tell_are_named() -> None:
    """Their share is missing in the figures."""
    assert view_of({"silent": ["b:9124"]}).silent == ("b:9124",)
