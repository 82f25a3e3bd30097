"""Orders of a coordinator: what they change, and which are too old."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.server.replica.standing import LeadershipOrder, Role, Standing, Turn

_ME, _OTHER = 3, 4
_LEAD = LeadershipOrder(leader=_ME, leader_epoch=5, bucket_epoch=7, coordinator_epoch=1, replicas=(3, 4), isr=(3, 4))


def led() -> Standing:
    """A bucket that this server leads under epoch 5."""
    standing = Standing()
    assert standing.obey(_LEAD, _ME, "a bucket") is Turn.LEAD
    return standing


@pytest.mark.parametrize(("leader", "epoch", "turn", "role"), [
    (_ME, 5, Turn.GO_ON_LEADING, Role.LEADER),
    (_ME, 6, Turn.LEAD, Role.LEADER),
    (_OTHER, 6, Turn.FOLLOW, Role.FOLLOWER),
])  # fmt: skip
def test_what_an_order_changes(leader: int, epoch: int, turn: Turn, role: Role) -> None:
    """A new epoch begins anew; the same one goes on."""
    standing = led()
    assert standing.obey(replace(_LEAD, leader=leader, leader_epoch=epoch), _ME, "a bucket") is turn
    assert (standing.role, standing.leader, standing.leader_epoch) == (role, leader, epoch)


def test_a_follower_under_the_same_epoch_goes_on() -> None:
    """The fetch is not begun anew, for its place is right."""
    standing = Standing()
    order = replace(_LEAD, leader=_OTHER)
    assert standing.obey(order, _ME, "a bucket") is Turn.FOLLOW
    assert standing.obey(replace(order, bucket_epoch=8), _ME, "a bucket") is Turn.GO_ON_FOLLOWING


@pytest.mark.parametrize(("changes", "code"), [
    ({"leader_epoch": 4}, ErrorCode.FENCED_LEADER_EPOCH),
    ({"bucket_epoch": 6}, ErrorCode.INVALID_UPDATE_VERSION),
    ({"replicas": (4, 5)}, ErrorCode.UNKNOWN_TABLE_OR_BUCKET),
])  # fmt: skip
def test_an_old_order_is_refused_and_changes_nothing(changes: dict[str, int], code: ErrorCode) -> None:
    """An old leader's epoch, an old version of the set, or a bucket that is not ours."""
    standing = led()
    with pytest.raises(LakewardError) as refused:
        standing.obey(replace(_LEAD, leader=_OTHER, **changes), _ME, "a bucket")  # type: ignore[arg-type]
    assert refused.value.code is code
    assert (standing.role, standing.leader_epoch, standing.bucket_epoch) == (Role.LEADER, 5, 7)


def test_a_bucket_that_was_stopped_begins_anew() -> None:
    """The same epoch after a stop is an order to begin, not to go on."""
    standing = led()
    with pytest.raises(LakewardError):
        standing.stop(4, "a bucket")
    standing.stop(5, "a bucket")
    assert standing.role is Role.NONE
    assert standing.obey(_LEAD, _ME, "a bucket") is Turn.LEAD
