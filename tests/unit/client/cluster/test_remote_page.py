"""What servers tell of remote storage, put together."""

from __future__ import annotations

from typing import Any

from lakeward.client.cluster.remote_page import one_document

_NUMBERS = ("local_segments", "local_bytes", "remote_segments", "remote_bytes", "lag_rows", "lag_bytes", "lag_seconds")


def row(value: int, **more: Any) -> dict[str, Any]:
    """The same number for everything."""
    return dict.fromkeys(_NUMBERS, value) | more


def told(value: int, bucket: int, **more: Any) -> dict[str, Any]:
    """A server's document."""
    tables = [row(value, table="db.t")]
    buckets = [row(value, partition=None, bucket=bucket)]
    return (
        row(value)
        | {"store": "/r", "is_failing": False, "reason": None, "failures": value}
        | more
        | {
            "tables": tables,
            "buckets": buckets,
        }
    )


def test_tablet_servers_are_added_up() -> None:
    """What the coordinator has committed for them is not counted twice; the longest lag and any failure count."""
    coordinator, first, second = told(9, 7), told(1, 1), told(2, 0, is_failing=True, reason="full")
    found = one_document(coordinator, [coordinator], [first, second], ["b:2", "a:1"])
    assert found["tables"] == [row(3, table="db.t", lag_seconds=2)]
    assert [(one["bucket"], one["lag_rows"]) for one in found["buckets"]] == [(0, 2), (1, 1)]
    assert (found["remote_bytes"], found["failures"], found["lag_seconds"]) == (3, 12, 2)
    assert (found["is_failing"], found["reason"], found["silent"]) == (True, "full", ["a:1", "b:2"])


def test_what_only_one_has_told() -> None:
    """Without any other the document is that of the first."""
    alone = told(4, 0)
    assert one_document(alone, [], [], []) == alone | {
        "buckets_waiting": 0,
        "files_to_delete": 0,
        "copied_segments": 0,
        "copied_bytes": 0,
        "expired_segments": 0,
        "silent": [],
    }
