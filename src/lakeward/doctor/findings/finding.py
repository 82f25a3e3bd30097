"""Finding: what is wrong, with what, and what to do."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

#: Where each check has a section of its name.
PAGE = "docs/guides/troubleshooting.md"


class Severity(enum.StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    OK = "ok"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)

    @property
    def is_trouble(self) -> bool:
        """Whether somebody should do something."""
        return self in {Severity.ERROR, Severity.WARNING}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check says of one thing."""

    check: str
    severity: Severity
    #: The table, file, address or option that it is about; empty when it is the whole.
    subject: str
    #: One sentence.
    what: str
    #: One sentence, with the command to type where there is one.
    do: str

    @property
    def page(self) -> str:
        """Where more is said of it."""
        return f"{PAGE}#{self.check}"

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "check": self.check,
            "severity": self.severity.value,
            "subject": self.subject,
            "what": self.what,
            "do": self.do,
            "page": self.page,
        }


def worst_first(finding: Finding) -> tuple[int, str, str]:
    """A key to sort findings by."""
    return finding.severity.rank, finding.check, finding.subject
