"""Audit: who changed what, who was refused, and who could not log in; one line of JSON each.

{"time": "2026-11-18T09:30:00.123Z", "event": "CREATE_TABLE", "principal": "User:alice", "peer": "10.0.0.7:4711",
 "outcome": "done", "table": "shop.orders"}

A client that is refused again and again fills no disk: the same refusal is written once in ten seconds, and then says
how often it happened ("times").
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from lakeward.errors import ErrorCode
from lakeward.model.principal import Principal
from lakeward.runtime.clock import Clock
from lakeward.runtime.seldom import SeldomLog
from lakeward.server.grants.records.audit_file import AuditFile

_log = logging.getLogger(__name__)
DONE, FAILED, REFUSED = "done", "failed", "refused"
_AGAIN_S = 10.0
_TOLD_MAX = 1000


class Deed(NamedTuple):
    """Something that somebody did or tried."""

    event: str
    principal: Principal
    peer: str


@dataclass(slots=True)
class _Told:
    """A refusal that was written down a moment ago, and how often it happened since."""

    deed: Deed
    outcome: str
    facts: Mapping[str, Any]
    at_s: float
    times: int = 0


class Audit:
    """Writes deeds down. What cannot be written is counted and reported, and stops nobody."""

    def __init__(self, file: AuditFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._told: dict[tuple[Any, ...], _Told] = {}
        self._trouble = SeldomLog(_log, clock.monotonic)
        self.lost = 0

    def note_change(self, deed: Deed, facts: Mapping[str, Any]) -> None:
        """Somebody has changed something."""
        self._write(deed, DONE, facts)

    def note_failure(self, deed: Deed, code: ErrorCode, facts: Mapping[str, Any]) -> None:
        """Somebody has tried to, in vain. The code says why; the message may hold what nobody should keep."""
        self._write_seldom(deed, FAILED, {**facts, "error": code.name})

    def note_refusal(self, deed: Deed, facts: Mapping[str, Any]) -> None:
        """Somebody has asked for what they may not do."""
        self._write_seldom(deed, REFUSED, facts)

    def look(self) -> None:
        """Write down what was held back, once its time has come."""
        now = self._clock.monotonic()
        for key, told in list(self._told.items()):
            if now - told.at_s >= _AGAIN_S:
                del self._told[key]
                self._write_again(told)

    def close(self) -> None:
        """Write down what was held back, and let go of the file."""
        told, self._told = self._told, {}
        for one in told.values():
            self._write_again(one)
        try:
            self._file.close()
        except OSError as wrong:
            self._trouble.warn(f"the end of the audit log may be lost: {wrong}")

    def _write_seldom(self, deed: Deed, outcome: str, facts: Mapping[str, Any]) -> None:
        host = deed.peer.rpartition(":")[0]
        key = (deed.event, deed.principal, host, outcome, json.dumps(facts, sort_keys=True, default=str))
        told = self._told.get(key)
        if told is not None:
            told.times += 1
            return
        if len(self._told) < _TOLD_MAX:
            self._told[key] = _Told(deed, outcome, facts, self._clock.monotonic())
        else:
            oldest = next(iter(self._told))
            self._write_again(self._told.pop(oldest))
        self._write(deed, outcome, facts)

    def _write_again(self, told: _Told) -> None:
        if told.times:
            self._write(told.deed, told.outcome, {**told.facts, "times": told.times})

    def _write(self, deed: Deed, outcome: str, facts: Mapping[str, Any]) -> None:
        time = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
        line = {
            "time": f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03d}Z",
            "event": deed.event,
            "principal": str(deed.principal),
            "peer": deed.peer,
            "outcome": outcome,
            **facts,
        }
        try:
            self._file.write(json.dumps(line, default=str).encode() + b"\n")
        except OSError as wrong:
            self.lost += 1
            self._trouble.warn(f"what {deed.principal} did is not on the record, {deed.event}: {wrong}")
