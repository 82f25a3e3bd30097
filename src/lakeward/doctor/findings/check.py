"""Check: one row a thing that goes wrong; what it looks at, which facts it needs, and the function that judges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.findings.finding import Finding, Severity

#: Of one check at most so many findings are told; more of the same help nobody.
_FINDINGS_MAX = 10


class Verdict(NamedTuple):
    """A finding before it is known which check it is of."""

    severity: Severity
    subject: str
    what: str
    do: str


def error(subject: object, what: str, do: str) -> Verdict:
    """Something does not work, or rows are in danger."""
    return Verdict(Severity.ERROR, str(subject), what, do)


def warning(subject: object, what: str, do: str) -> Verdict:
    """Something will not work for long, or works badly."""
    return Verdict(Severity.WARNING, str(subject), what, do)


def note(subject: object, what: str, do: str) -> Verdict:
    """Good to know."""
    return Verdict(Severity.NOTE, str(subject), what, do)


class Unchecked(NamedTuple):
    """A check that could not be made, and why."""

    check: str
    why: str


@dataclass(frozen=True, slots=True)
class Check:
    """A row. `needs` are parts of the facts without which it cannot be made; of `any_of` one is enough."""

    name: str
    looks_at: str
    judge: Callable[[Facts], Iterable[Verdict]]
    needs: Sequence[str] = ()
    any_of: Sequence[str] = ()

    def __post_init__(self) -> None:
        assert self.looks_at.endswith("."), f"what {self.name} looks at is not a sentence"

    def examine(self, facts: Facts) -> list[Finding] | Unchecked:
        """What it finds, the worst first; or why it could not be made."""
        missing = [part for part in self.needs if not facts.has(part)]
        if self.any_of and not any(map(facts.has, self.any_of)):
            missing.append(self.any_of[0])
        if missing:
            return Unchecked(self.name, facts.why_missing(missing[0]))
        found = sorted(self.judge(facts), key=lambda verdict: verdict.severity.rank)
        findings = [Finding(self.name, *verdict) for verdict in found[:_FINDINGS_MAX]]
        if len(found) > _FINDINGS_MAX:
            rest = len(found) - _FINDINGS_MAX
            findings.append(
                Finding(
                    self.name,
                    Severity.NOTE,
                    "",
                    f"There are {rest:,} more of this kind.",
                    "Mend these first, then look again.",
                )
            )
        return findings
