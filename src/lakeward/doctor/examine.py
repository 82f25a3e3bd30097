"""examine: facts gathered once, within a time, and judged by every check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.doctor.checks.all_checks import CHECKS
from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.findings.check import Unchecked
from lakeward.doctor.findings.finding import Finding, worst_first
from lakeward.doctor.look.cluster import ClusterLook
from lakeward.doctor.look.look import Look
from lakeward.doctor.look.port import look_at_port
from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from lakeward.client.tables.connection import AsyncConnection

TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found, the worst first; how many checks were made, and which could not be, and why."""

    findings: tuple[Finding, ...]
    checked: int
    unchecked: tuple[Unchecked, ...]
    facts: Facts

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
        }


async def examine(conn: AsyncConnection, *, timeout_s: float = TIMEOUT_S, clock: Clock | None = None) -> Examination:
    """Look at a cluster through a connection, for no longer than about this time; changes nothing, reads no table."""
    clock = clock or SystemClock()
    look = Look()
    questions = ClusterLook(conn, clock, timeout_s).questions()

    async def port() -> dict[str, Any]:
        return {"port": await look_at_port(conn.bootstrap, timeout_s / 2)}

    await look.ask({"port": port, **questions}, timeout_s)
    return judge(Facts(**look.found, now_ms=clock.now_ms(), missing=look.missing))


def judge(facts: Facts) -> Examination:
    """What every check says of some facts."""
    findings: list[Finding] = []
    unchecked: list[Unchecked] = []
    for check in CHECKS:
        result = check.examine(facts)
        if isinstance(result, Unchecked):
            unchecked.append(result)
        else:
            findings += result
    if facts.tables is not None and len(facts.tables) < facts.table_count:
        left_out = facts.table_count - len(facts.tables)
        unchecked.append(Unchecked("tables", f"{left_out:,} of {facts.table_count:,} tables were not looked at."))
    return Examination(tuple(sorted(findings, key=worst_first)), len(CHECKS) - len(unchecked), tuple(unchecked), facts)
