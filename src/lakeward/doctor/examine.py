"""examine: facts gathered once, within a time, and judged by every check."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.doctor.checks.all_checks import CHECKS
from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.findings.check import Unchecked
from lakeward.doctor.findings.finding import Finding, worst_first
from lakeward.doctor.look.cluster import ClusterLook
from lakeward.doctor.look.look import Look
from lakeward.doctor.look.machine import look_at_machine
from lakeward.doctor.look.place import look_at_place
from lakeward.doctor.look.port import look_at_port
from lakeward.errors import LakewardError
from lakeward.query.door import aconnect
from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from lakeward.client.tables.connection import AsyncConnection

TIMEOUT_S = 5.0
_ELSEWHERE = "the server's machine is looked at with --data-dir only, on that machine."


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found, the worst first; how many checks were made, and which could not be, and why."""

    findings: tuple[Finding, ...]
    checked: int
    unchecked: tuple[Unchecked, ...]
    facts: Facts
    #: Why the cluster could not be looked at, if so.
    refusal: str | None = None

    @property
    def is_well(self) -> bool:
        """Whether nobody has to do anything, as far as could be seen."""
        return not any(finding.severity.is_trouble for finding in self.findings)

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "is_well": self.is_well,
            "checked": self.checked,
            "findings": [finding.document() for finding in self.findings],
            "unchecked": [{"check": one.check, "why": one.why} for one in self.unchecked],
            "refusal": self.refusal,
        }


async def examine(
    conn: AsyncConnection, *, data_dir: Path | None = None, timeout_s: float = TIMEOUT_S, clock: Clock | None = None
) -> Examination:
    """Look at a cluster through a connection, for about this time at most; changes nothing, and reads no user's rows.

    `data_dir` is the server's, where it runs on this machine.
    """
    clock = clock or SystemClock()
    look = Look()

    async def port() -> Mapping[str, Any]:
        return {"port": await look_at_port(conn.bootstrap, timeout_s / 2)}

    questions = ClusterLook(conn, clock, timeout_s).questions()
    await look.ask({"port": port, "machine": _machine, **questions}, timeout_s)
    await _look_at_place(look, data_dir, timeout_s)
    return _judge_look(look, clock)


async def examine_address(
    bootstrap: str,
    options: Mapping[str, Any],
    *,
    data_dir: Path | None = None,
    timeout_s: float = TIMEOUT_S,
    clock: Clock | None = None,
) -> Examination:
    """The same where there may be nobody at the address, or somebody who does not let us in: then that is said."""
    clock = clock or SystemClock()
    try:
        async with asyncio.timeout(timeout_s):
            conn = await aconnect(bootstrap, **{**options, "client.connect-timeout": f"{int(timeout_s * 1000)} ms"})
    except (LakewardError, OSError, TimeoutError) as wrong:
        refusal = wrong.message if isinstance(wrong, LakewardError) else f"there was no answer within {timeout_s:g} s."
        return await _examine_from_outside(bootstrap, refusal, data_dir, timeout_s, clock)
    async with conn:
        return await examine(conn, data_dir=data_dir, timeout_s=timeout_s, clock=clock)


async def _examine_from_outside(
    bootstrap: str, refusal: str, data_dir: Path | None, timeout_s: float, clock: Clock
) -> Examination:
    look = Look()

    async def port() -> Mapping[str, Any]:
        return {"port": await look_at_port(bootstrap, timeout_s / 2)}

    await look.ask({"port": port, "machine": _machine}, timeout_s)
    await _look_at_place(look, data_dir, timeout_s)
    for part in ClusterLook.PARTS:
        look.missing.setdefault(part, "the cluster could not be looked at.")
    return _judge_look(look, clock, refusal)


async def _machine() -> Mapping[str, Any]:
    return {"machine": await asyncio.to_thread(look_at_machine)}


async def _look_at_place(look: Look, data_dir: Path | None, timeout_s: float) -> None:
    """The data directory, and the server's process that is in it."""
    if data_dir is None:
        look.missing |= dict.fromkeys(("directory", "disk", "process"), _ELSEWHERE)
        return

    async def place() -> Mapping[str, Any]:
        return await asyncio.to_thread(look_at_place, data_dir, look.found.get("options", {}))

    await look.ask({"directory disk process": place}, timeout_s)
    if "process" not in look.found:
        look.missing.setdefault("process", f"no server of this machine is in {data_dir}.")


def _judge_look(look: Look, clock: Clock, refusal: str | None = None) -> Examination:
    return judge(Facts(**look.found, now_ms=clock.now_ms(), missing=look.missing), refusal)


def judge(facts: Facts, refusal: str | None = None) -> Examination:
    """What every check says of some facts."""
    findings: list[Finding] = []
    unchecked: list[Unchecked] = []
    for check in CHECKS:
        result = check.examine(facts)
        if isinstance(result, Unchecked):
            unchecked.append(result)
        else:
            findings += result
    checked = len(CHECKS) - len(unchecked)
    if facts.tables is not None and len(facts.tables) < facts.table_count:
        left_out = facts.table_count - len(facts.tables)
        unchecked.append(Unchecked("tables", f"{left_out:,} of {facts.table_count:,} tables were not looked at."))
    return Examination(tuple(sorted(findings, key=worst_first)), checked, tuple(unchecked), facts, refusal)
