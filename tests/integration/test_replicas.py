"""Two tablet servers of ours with one bucket between them, ordered about over sockets as a coordinator does."""

from __future__ import annotations

import asyncio
from pathlib import Path

from seat_pair import A, B, Pair, run, until

from lakeward.errors import ErrorCode


def test_what_is_acknowledged_is_on_both(tmp_path: Path) -> None:
    """The same bytes; clients are served by the leader alone, and an old leader's epoch is refused."""

    async def story(pair: Pair) -> None:
        assert await pair.order(A, leader=A, epoch=3) == 0
        assert await pair.order(B, leader=A, epoch=3) == 0
        for value in range(20):
            assert await pair.append(A, value) == 0
            assert pair.log(A) == pair.log(B)
        told = await pair.fetch(A)
        assert (told.high_watermark, told.records) == (20, pair.log(A))
        assert (await pair.fetch(B)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER.value
        assert await pair.append(B, 1) == ErrorCode.NOT_LEADER_OR_FOLLOWER.value
        assert await pair.order(A, leader=B, epoch=2) == ErrorCode.FENCED_LEADER_EPOCH.value
        assert await pair.append(A, 20) == 0

    run(tmp_path, story)


def test_what_not_all_have_is_seen_by_replicas_and_by_no_client(tmp_path: Path) -> None:
    """While the follower follows nobody a write that all must have is late, and one that the leader has is hidden."""

    async def story(pair: Pair) -> None:
        assert await pair.order(A, leader=A, epoch=0) == 0
        assert await pair.append(A, 1, timeout_ms=100) == ErrorCode.REQUEST_TIME_OUT.value
        assert await pair.append(A, 2, acks=1) == 0
        told = await pair.fetch(A)
        assert (told.high_watermark, told.records) == (0, b"")
        assert (await pair.fetch(A, follower=B)).records == pair.log(A)
        assert (await pair.fetch(A, follower=9)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER.value
        assert await pair.order(B, leader=A, epoch=0) == 0
        assert await pair.append(A, 3) == 0
        assert (await pair.fetch(A)).high_watermark == 3

    run(tmp_path, story)


def test_what_was_never_committed_is_taken_back_after_a_change_of_leaders(tmp_path: Path) -> None:
    """The old leader compares with the new one, cuts, and has its bytes; writes that waited are refused."""

    async def story(pair: Pair) -> None:
        for number in (A, B):
            assert await pair.order(number, leader=A, epoch=0) == 0
        assert await pair.append(A, 1) == 0
        assert await pair.order(B, leader=B, epoch=1) == 0  # and A has not heard of it
        waiting = asyncio.create_task(pair.append(A, 2))
        await until(lambda: len(pair.log(A)) > len(pair.log(B)))
        assert await pair.append(B, 3, acks=1) == 0
        assert await pair.order(A, leader=B, epoch=1) == 0
        assert await waiting == ErrorCode.NOT_LEADER_OR_FOLLOWER.value
        await until(lambda: pair.log(A) == pair.log(B))
        assert await pair.append(B, 4) == 0
        assert pair.log(A) == pair.log(B)
        assert (await pair.fetch(B)).high_watermark == 3

    run(tmp_path, story)


def test_a_follower_that_is_ahead_is_sent_back(tmp_path: Path) -> None:
    """It asks behind the place at which the leader was elected, as an Apache follower may."""

    async def story(pair: Pair) -> None:
        assert await pair.order(A, leader=A, epoch=0) == 0
        assert await pair.append(A, 1, acks=1) == 0
        asked = await pair.fetch(A, follower=B, offset=5)
        assert asked.error_code == ErrorCode.LOG_OFFSET_OUT_OF_RANGE.value

    run(tmp_path, story)
