"""Questions to leaders are repeated where that helps."""

from __future__ import annotations

from typing import Any

import pytest
from fake_cluster import PATH, FakeCluster

from lakeward.client.cluster import patience
from lakeward.client.cluster.patience import ask_leader
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket

BUCKET = TableBucket(7, None, 0)


async def ask(cluster: FakeCluster, *errors: ErrorCode) -> tuple[str, int]:
    """Ask a leader that answers with these errors first; the answer and how often it was asked."""
    left = list(errors)
    asked = 0

    async def send(channel: Any) -> str:
        nonlocal asked
        asked += 1
        if left:
            raise left.pop(0).error("no")
        return "yes"

    return await ask_leader(cluster, PATH, BUCKET, None, send), asked  # type: ignore[arg-type]


@pytest.fixture
def cluster() -> FakeCluster:
    """A cluster that is not waited for."""
    made = FakeCluster()
    made.workers.shutdown()
    return made


async def test_a_leader_that_moved_is_found(cluster: FakeCluster) -> None:
    """What is known of the bucket is forgotten, and it is asked again."""
    assert await ask(cluster, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NETWORK) == ("yes", 3)
    assert cluster.metadata.forgotten == [BUCKET, BUCKET]


async def test_storage_that_failed_for_now_is_asked_again(cluster: FakeCluster) -> None:
    """The leader is still the leader."""
    assert await ask(cluster, ErrorCode.STORAGE) == ("yes", 2)
    assert not cluster.metadata.forgotten


async def test_what_repetition_does_not_mend_is_raised(cluster: FakeCluster) -> None:
    """At once."""
    with pytest.raises(LakewardError) as caught:
        await ask(cluster, ErrorCode.AUTHORIZATION)
    assert caught.value.code is ErrorCode.AUTHORIZATION


async def test_patience_ends(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last error is raised."""
    monkeypatch.setattr(patience, "_GIVE_UP_S", -1)
    with pytest.raises(LakewardError) as caught:
        await ask(cluster, ErrorCode.NETWORK)
    assert caught.value.code is ErrorCode.NETWORK
