"""The states of a table on its way into the lake, and what leads from one to the next."""

from __future__ import annotations

import enum


class TieringState(enum.StrEnum):
    """Where a table is in its round."""

    NEW = "new"
    INITIALIZED = "initialized"
    SCHEDULED = "scheduled"
    PENDING = "pending"
    TIERING = "tiering"
    TIERED = "tiered"
    FAILED = "failed"


class TieringEvent(enum.StrEnum):
    """What happens to a table. ENROLL, REST, AGAIN and HOLD are the coordinator's own next step."""

    ENROLL = "enroll"
    DUE = "due"
    TAKE = "take"
    FINISH = "finish"
    FAIL = "fail"
    REST = "rest"
    AGAIN = "again"
    HOLD = "hold"


_S, _E = TieringState, TieringEvent
#: Everything that can happen; what is not listed cannot.
TRANSITIONS: dict[tuple[TieringState, TieringEvent], TieringState] = {
    (_S.NEW, _E.ENROLL): _S.SCHEDULED,
    (_S.INITIALIZED, _E.ENROLL): _S.SCHEDULED,
    (_S.SCHEDULED, _E.DUE): _S.PENDING,
    (_S.PENDING, _E.TAKE): _S.TIERING,
    (_S.TIERING, _E.FINISH): _S.TIERED,
    (_S.TIERING, _E.FAIL): _S.FAILED,
    (_S.TIERED, _E.REST): _S.SCHEDULED,
    (_S.TIERED, _E.AGAIN): _S.PENDING,
    (_S.FAILED, _E.AGAIN): _S.PENDING,
    # Not in Apache Fluss: a paused table waits where no tiering service can take it.
    (_S.PENDING, _E.HOLD): _S.SCHEDULED,
    (_S.FAILED, _E.HOLD): _S.SCHEDULED,
}


def state_after(state: TieringState, event: TieringEvent) -> TieringState | None:
    """The state an event leads to, or None when it cannot happen in this one."""
    return TRANSITIONS.get((state, event))
