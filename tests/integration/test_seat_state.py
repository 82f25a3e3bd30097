"""A seat in a cluster with remote storage: snapshots of state that any server of the cluster goes on from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from seat_pair import TABLE, A, B, Pair, run, until
from wire_kv import WireKv
from wire_tables import WireTable

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import LookupRequest, PbLookupReqForBucket, PbPutKvReqForBucket, PutKvRequest

pytest.importorskip("rocksdict")

_KV = WireKv(cast("WireTable", None))
_TYPES = (("id", "BIGINT"), ("name", "STRING"), ("n", "INTEGER"))
_SCHEMA = {
    "version": 1,
    "columns": [
        {"name": name, "data_type": {"type": root, "nullable": name != "id"}, "id": number}
        for number, (name, root) in enumerate(_TYPES)
    ],
    "primary_key": ["id"],
    "highest_field_id": 2,
}


def tell(tmp_path: Path, story: Callable[[Pair], Any], *more: str) -> None:
    """A story of a primary key table."""
    options = (
        f"remote.data.dir={tmp_path / 'remote'}",
        "log.segment.file-size=8kb",
        "remote.log.task-interval-duration=50ms",
        "kv.snapshot.interval=100ms",
        *more,
    )
    run(tmp_path, story, *options, schema=_SCHEMA, bucket_key=["id"])


async def put(pair: Pair, leader: int, name: str, ids: range, acks: int = -1) -> None:
    """Upsert rows, fifty at a time."""
    for first in range(ids.start, ids.stop, 50):
        rows = [(one, f"{name} {one}", one) for one in range(first, min(first + 50, ids.stop))]
        one = PbPutKvReqForBucket(bucket_id=0, records=bytes(_KV.batch(rows)))
        request = PutKvRequest(acks=acks, timeout_ms=5000, table_id=TABLE, buckets_req=(one,))
        answer = await pair.lines[leader].request(Api.PUT_KV, request)
        assert not answer.buckets_resp[0].error_code, answer


async def look_up(pair: Pair, leader: int, *ids: int) -> list[str | None]:
    """The names of rows."""
    one = PbLookupReqForBucket(bucket_id=0, keys=tuple(_KV.key(key) for key in ids))
    answer = await pair.lines[leader].request(Api.LOOKUP, LookupRequest(table_id=TABLE, buckets_req=(one,)))
    bucket = answer.buckets_resp[0]
    assert not bucket.error_code, bucket
    return [_KV.row(found.values)[1] if found.values else None for found in bucket.values]


def newest(pair: Pair) -> int:
    """The offset of the newest snapshot that counts; all that it names must be there."""
    found = pair.coordinator.snapshots()
    for snapshot in found:
        metadata = json.loads(Path(snapshot["metadata_path"]).read_bytes())
        handle = metadata["kv_snapshot_handle"]
        for file in (*handle["shared_file_handles"], *handle["private_file_handles"]):
            assert Path(file["kv_file_handle"]["path"]).stat().st_size == file["kv_file_handle"]["size"]
    return max((int(one["log_offset"]) for one in found), default=0)


@pytest.mark.parametrize("engine", ["hash", "rocksdb"])
def test_a_follower_that_let_go_of_its_log_leads_from_the_snapshot(tmp_path: Path, engine: str) -> None:
    """It keeps what comes behind the snapshot; what was before comes back from remote storage."""

    async def story(pair: Pair) -> None:
        await pair.lead(A, 0)
        await put(pair, A, "first", range(1000))
        await put(pair, A, "second", range(500))
        await until(lambda: newest(pair) >= 1500)
        await until(lambda: pair.coordinator.manifest() is not None)
        await pair.looked()
        before = newest(pair)
        await pair.tell_copied(B)
        assert pair.starts_at(B) == 0  # nobody has told yet what the state needs
        await pair.tell_kept(B, before)
        await until(lambda: 0 < pair.starts_at(B) <= before)
        await put(pair, A, "third", range(100))
        await pair.lead(B, 1)
        assert await look_up(pair, B, 0, 99, 100, 499, 500, 999, 1000) == [
            "third 0",
            "third 99",
            "second 100",
            "second 499",
            "first 500",
            "first 999",
            None,
        ]
        await put(pair, B, "fourth", range(900, 1100))
        assert await look_up(pair, B, 899, 900, 1099) == ["first 899", "fourth 900", "fourth 1099"]
        await until(lambda: newest(pair) > before)  # and its snapshots count from now on

    tell(tmp_path, story, f"kv.engine={engine}")


def test_a_snapshot_waits_until_all_have_what_it_knows(tmp_path: Path) -> None:
    """Rows that may yet be taken back are in no snapshot that counts."""

    async def story(pair: Pair) -> None:
        assert await pair.order(A, leader=A, epoch=0) == 0
        await put(pair, A, "mine", range(200), acks=1)
        await pair.looked()
        assert newest(pair) == 0
        assert await pair.order(B, leader=A, epoch=0) == 0
        await until(lambda: newest(pair) >= 200)

    tell(tmp_path, story)


def test_a_snapshot_of_an_old_leader_never_counts(tmp_path: Path) -> None:
    """It has rows that the next leader does not have: they are cut, and so is what it knew of them."""

    async def story(pair: Pair) -> None:
        await pair.lead(A, 0)
        await put(pair, A, "both", range(100))
        await until(lambda: newest(pair) >= 100)
        assert await pair.order(B, leader=B, epoch=1) == 0  # and A has not heard of it
        await put(pair, A, "mine", range(100), acks=1)
        await pair.looked()
        await put(pair, B, "yours", range(50, 100), acks=1)
        assert await pair.order(A, leader=B, epoch=1) == 0
        await put(pair, B, "yours", range(100, 120))
        await pair.lead(A, 2)
        assert await look_up(pair, A, 0, 49, 50, 119) == ["both 0", "both 49", "yours 50", "yours 119"]
        await put(pair, A, "last", range(10))
        await pair.restart(A)
        await pair.lead(A, 3)
        assert await look_up(pair, A, 0, 49, 50, 119) == ["last 0", "both 49", "yours 50", "yours 119"]

    tell(tmp_path, story)


@pytest.mark.long
def test_a_commit_that_was_not_answered_names_what_is_there(tmp_path: Path) -> None:
    """It counts; the next one comes all the same."""

    async def story(pair: Pair) -> None:
        def lost() -> Any:
            raise ErrorCode.NETWORK.error("The connection was lost.")

        await pair.lead(A, 0)
        pair.coordinator.next_commit = lost
        await put(pair, A, "one", range(50))
        await until(lambda: newest(pair) >= 50)
        await put(pair, A, "two", range(50, 100))
        await until(lambda: newest(pair) >= 100)

    tell(tmp_path, story)


def test_without_a_snapshot_that_reaches_back_it_says_so(tmp_path: Path) -> None:
    """The log begins behind every snapshot: no answer is better than a wrong one."""

    async def story(pair: Pair) -> None:
        await pair.lead(A, 0)
        await put(pair, A, "some", range(1000))
        await until(lambda: newest(pair) >= 1000)
        await until(lambda: pair.coordinator.manifest() is not None)
        await pair.tell_copied(B)
        await pair.tell_kept(B, newest(pair))
        await until(lambda: pair.starts_at(B) > 0)
        for path in [one for one in pair.coordinator.nodes if "/snapshots/" in one]:
            del pair.coordinator.nodes[path]
        await pair.restart(B)
        assert await pair.order(B, leader=B, epoch=1) == 0
        one = PbLookupReqForBucket(bucket_id=0, keys=(_KV.key(1),))
        answer = await pair.lines[B].request(Api.LOOKUP, LookupRequest(table_id=TABLE, buckets_req=(one,)))
        assert "no snapshot" in (answer.buckets_resp[0].error_message or "")

    tell(tmp_path, story)
