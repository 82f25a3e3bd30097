"""Standing: what this server is to one bucket, by order of the coordinator; older orders are refused. Pure."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from lakeward.errors import ErrorCode


class Role(enum.Enum):
    """What this server is to a bucket."""

    #: Nothing was ordered yet, or it was told to stop.
    NONE = enum.auto()
    LEADER = enum.auto()
    FOLLOWER = enum.auto()


class Turn(enum.Enum):
    """What an order changes."""

    #: Leader under a new epoch: the state is built, the followers begin anew.
    LEAD = enum.auto()
    #: Leader as before; replicas or the in-sync set may be others.
    GO_ON_LEADING = enum.auto()
    #: Follower under a new epoch: compare with the new leader, cut, fetch.
    FOLLOW = enum.auto()
    #: Follower as before.
    GO_ON_FOLLOWING = enum.auto()


@dataclass(frozen=True, slots=True)
class LeadershipOrder:
    """NOTIFY_LEADER_AND_ISR, for one bucket."""

    leader: int
    leader_epoch: int
    bucket_epoch: int
    coordinator_epoch: int
    replicas: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()


#: (this server leads, the epoch is new) → what is to be done.
TURNS = {
    (True, True): Turn.LEAD,
    (True, False): Turn.GO_ON_LEADING,
    (False, True): Turn.FOLLOW,
    (False, False): Turn.GO_ON_FOLLOWING,
}


@dataclass(slots=True)
class Standing:
    """Role and epochs of one bucket."""

    role: Role = Role.NONE
    leader: int = -1
    leader_epoch: int = -1
    bucket_epoch: int = 0
    coordinator_epoch: int = 0

    def obey(self, order: LeadershipOrder, me: int, name: object) -> Turn:
        """Take an order in; FENCED_LEADER_EPOCH or INVALID_UPDATE_VERSION when it is older than what is known."""
        if order.bucket_epoch < self.bucket_epoch:
            raise ErrorCode.INVALID_UPDATE_VERSION.error(
                f"The order for {name} has bucket epoch {order.bucket_epoch}, and {self.bucket_epoch} is known."
            )
        if order.leader_epoch < self.leader_epoch:
            raise ErrorCode.FENCED_LEADER_EPOCH.error(
                f"The order for {name} has leader epoch {order.leader_epoch}, and {self.leader_epoch} is known."
            )
        if me not in order.replicas:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Server {me} is no replica of {name}: {order.replicas}.")
        leads = order.leader == me
        is_new = order.leader_epoch > self.leader_epoch or self.role is Role.NONE
        self.role = Role.LEADER if leads else Role.FOLLOWER
        self.leader, self.leader_epoch, self.bucket_epoch = order.leader, order.leader_epoch, order.bucket_epoch
        self.coordinator_epoch = order.coordinator_epoch
        return TURNS[leads, is_new]

    def stop(self, leader_epoch: int, name: object) -> None:
        """Be nothing any more; FENCED_LEADER_EPOCH when the order is older than what is known."""
        if leader_epoch < self.leader_epoch:
            raise ErrorCode.FENCED_LEADER_EPOCH.error(
                f"The order to stop {name} has leader epoch {leader_epoch}, and {self.leader_epoch} is known."
            )
        self.role = Role.NONE
