"""Principal: who asks."""

from __future__ import annotations

from dataclasses import dataclass

USER_TYPE = "User"


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody with a name; `User` is the only type that servers give out."""

    name: str
    type: str = USER_TYPE

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


#: Whoever comes to a listener that asks nobody.
ANONYMOUS = Principal("ANONYMOUS")
