"""A seat in a cluster with remote storage: what a leader copies counts when the coordinator says so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from arrow_batches import ids_batch
from seat_pair import A, B, Pair, run, until

from lakeward.errors import ErrorCode
from lakeward.protocol.messages.servers.reports import CommitRemoteLogManifestResponse

_OPTIONS = ("log.segment.file-size=8kb", "remote.log.task-interval-duration=50ms")


def options(tmp_path: Path) -> tuple[str, ...]:
    """A common directory, small segments, quick copies."""
    return (f"remote.data.dir={tmp_path / 'remote'}", *_OPTIONS)


async def fill(pair: Pair, leader: int, first: int, batches: int) -> None:
    """Append rows, a hundred a batch."""
    for number in range(batches):
        start = first + number * 100
        assert await pair.append_batch(leader, bytes(ids_batch(list(range(start, start + 100))))) == 0


def end_of(pair: Pair) -> int:
    """Up to where the manifest that counts goes; all that it names must be there."""
    manifest = pair.coordinator.manifest()
    if manifest is None:
        return 0
    segments = manifest["remote_log_segments"]
    check_files(pair, segments)
    for one, two in pairwise(segments):
        assert one.get("logical_end_offset", one["end_offset"]) == two["start_offset"], "a gap"
    assert segments[0]["start_offset"] == 0
    return int(segments[-1]["end_offset"])


def check_files(pair: Pair, segments: list[dict[str, Any]]) -> None:
    """Each segment lies where Apache's servers and clients look for it, as large as it is said to be."""
    path = pair.coordinator.manifest_path()
    assert path is not None
    for one in segments:
        file = path.parent.parent / one["segment_id"] / f"{one['start_offset']:020d}.log"
        assert file.stat().st_size == one["size_in_bytes"]


def test_the_leader_copies_what_all_have_and_the_next_one_goes_on(tmp_path: Path) -> None:
    """The follower lets go of its copy when it is told; as leader it serves the rest from there and copies on."""

    async def story(pair: Pair) -> None:
        await pair.lead(A, 0)
        await fill(pair, A, 0, 60)
        await until(lambda: end_of(pair) > 3000)
        before = len(pair.files(B))
        await pair.tell_copied(B)
        await until(lambda: len(pair.files(B)) < before or pair.starts_at(B) > 0)
        told = await pair.fetch(A)
        assert told.remote_log_fetch_info is not None
        assert told.high_watermark == 6000

        copied = end_of(pair)
        await pair.lead(B, 1)
        told = await pair.fetch(B)
        assert told.remote_log_fetch_info is not None
        await fill(pair, B, 6000, 60)
        await until(lambda: end_of(pair) > max(copied, 9000))
        assert pair.starts_at(A) == 0 or end_of(pair) >= pair.starts_at(A)

    run(tmp_path, story, *options(tmp_path))


def test_what_not_all_have_is_not_copied(tmp_path: Path) -> None:
    """A follower that does not follow: its leader's closed segments stay where they are."""

    async def story(pair: Pair) -> None:
        assert await pair.order(A, leader=A, epoch=0) == 0
        for first in range(0, 4000, 100):
            assert await pair.append_batch(A, bytes(ids_batch(list(range(first, first + 100)))), acks=1) == 0
        assert len(pair.files(A)) > 3
        await pair.looked()
        assert pair.coordinator.manifest() is None
        assert await pair.order(B, leader=A, epoch=0) == 0
        await until(lambda: end_of(pair) > 2000)

    run(tmp_path, story, *options(tmp_path))


def test_a_follower_goes_on_behind_what_it_finds_in_remote_storage(tmp_path: Path) -> None:
    """It is told where that is, and is not sent back to where its leader was elected, which is gone from there."""

    async def story(pair: Pair) -> None:
        pair.coordinator.isr = (A,)
        assert await pair.order(A, leader=A, epoch=0) == 0
        await fill(pair, A, 0, 60)
        await until(lambda: pair.starts_at(A) > 2000)
        told = (await pair.fetch(A, follower=B)).remote_log_fetch_info
        assert told is not None
        end = told.remote_log_segments[-1].remote_log_end_offset
        assert end >= pair.starts_at(A)
        found = await pair.fetch(A, follower=B, offset=end)
        assert not found.error_code
        assert found.records

    run(tmp_path, story, *options(tmp_path))


def lost() -> Any:
    """The answer does not arrive."""
    raise ErrorCode.NETWORK.error("The connection was lost.")


@pytest.mark.long
@pytest.mark.parametrize("odd", [lost, lambda: CommitRemoteLogManifestResponse(commit_success=False)])
def test_a_commit_that_counts_and_was_not_answered_names_what_is_there(tmp_path: Path, odd: Callable[[], Any]) -> None:
    """Neither a lost answer nor a wrong one has files removed that the coordinator's manifest names."""

    async def story(pair: Pair) -> None:
        pair.coordinator.next_commit = odd
        await pair.lead(A, 0)
        await fill(pair, A, 0, 40)
        await until(lambda: pair.coordinator.next_commit is None)
        assert end_of(pair) > 0
        await fill(pair, A, 4000, 40)
        await until(lambda: end_of(pair) > 6000)
        await pair.lead(B, 1)
        await fill(pair, B, 8000, 40)
        await until(lambda: end_of(pair) > 10_000)

    run(tmp_path, story, *options(tmp_path))


def test_an_old_leader_s_copy_does_not_count(tmp_path: Path) -> None:
    """It has not heard that another server leads: only what that one has is copied, and its files stay."""

    async def story(pair: Pair) -> None:
        await pair.lead(A, 0)
        await fill(pair, A, 0, 40)
        await until(lambda: end_of(pair) > 2000)
        assert await pair.order(B, leader=B, epoch=1) == 0  # and A has not heard of it
        for first in range(0, 4000, 100):
            await pair.append_batch(A, bytes(ids_batch(list(range(first, first + 100)))), acks=1)
        await pair.looked()
        assert end_of(pair) <= 4000  # a copy may have been under way
        assert await pair.order(A, leader=B, epoch=1) == 0
        await fill(pair, B, 4000, 60)
        await until(lambda: end_of(pair) > 8000)

    run(tmp_path, story, *options(tmp_path))


def test_a_restarted_server_learns_what_counts_before_it_leads(tmp_path: Path) -> None:
    """Nothing of its own tells it: it asks the cluster, and goes on behind what others have copied."""

    async def story(pair: Pair) -> None:
        await pair.lead(A, 0)
        await fill(pair, A, 0, 60)
        await until(lambda: end_of(pair) > 3000)
        await pair.restart(A)
        await pair.lead(A, 1)
        assert (await pair.fetch(A)).remote_log_fetch_info is not None or pair.starts_at(A) == 0
        await fill(pair, A, 6000, 40)
        await until(lambda: end_of(pair) > 8000)

    run(tmp_path, story, *options(tmp_path))


def test_without_an_answer_it_does_not_lead(tmp_path: Path) -> None:
    """Who does not know what is copied would give it up: the coordinator is told, and may choose another."""

    async def story(pair: Pair) -> None:
        await pair.lead(A, 0)
        await fill(pair, A, 0, 40)
        await until(lambda: end_of(pair) > 2000)
        pair.coordinator.is_silent = True
        assert await pair.order(B, leader=B, epoch=1) == ErrorCode.NETWORK.value
        assert await pair.append(B, 1) == ErrorCode.NOT_LEADER_OR_FOLLOWER.value
        pair.coordinator.is_silent = False
        assert await pair.order(B, leader=B, epoch=1) == 0
        assert await pair.append(B, 1, acks=1) == 0

    run(tmp_path, story, *options(tmp_path))


def test_it_leads_while_the_store_is_away_and_copies_on_when_it_is_back(tmp_path: Path) -> None:
    """Where the manifest is was told; nothing is written over before it can be read."""

    async def story(pair: Pair) -> None:
        await pair.lead(A, 0)
        await fill(pair, A, 0, 60)
        await until(lambda: end_of(pair) > 3000)
        copied = end_of(pair)
        named = pair.coordinator.manifest_path()
        (tmp_path / "remote").rename(tmp_path / "away")
        await pair.lead(B, 1)
        await fill(pair, B, 6000, 40)
        await pair.looked()
        assert pair.coordinator.manifest_path() == named
        shutil.rmtree(tmp_path / "remote", ignore_errors=True)
        (tmp_path / "away").rename(tmp_path / "remote")
        await until(lambda: end_of(pair) > copied)

    run(tmp_path, story, *options(tmp_path))
