"""Faults: which messages are bad, and why; the first reason of each."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lakeward.formats.port import BadMessage
from lakeward.formats.values.values import FITS, U8, UNFIT, Values


class Faults:
    """What was found to be wrong so far."""

    def __init__(self) -> None:
        self._reasons: dict[int, str] = {}

    def add(self, owner: int, reason: str) -> None:
        """A message is bad."""
        self._reasons.setdefault(int(owner), reason)

    def replace(self, owner: int, reason: str) -> None:
        """A message is bad for a reason that comes before all others."""
        self._reasons[owner] = reason

    def add_unfit(self, values: Values, status: U8, name: str, type_: object) -> None:
        """Values that do not fit their column."""
        for index in np.flatnonzero(status == UNFIT).tolist():
            self.add(values.owners[index], f"column '{name}' of type {type_} cannot hold {values.show(index)}")

    def add_absent(self, values: Values, status: U8, name: str, wanted: Iterable[bool] | None = None) -> None:
        """Values of a column that is NOT NULL, and where they are wanted."""
        lacks = status != FITS if wanted is None else (status != FITS) & np.asarray(wanted)
        for index in np.flatnonzero(lacks).tolist():
            self.add(values.owners[index], f"column '{name}' is NOT NULL, and there is no value for it")

    def __contains__(self, owner: int) -> bool:
        return owner in self._reasons

    def __len__(self) -> int:
        return len(self._reasons)

    def owners(self) -> list[int]:
        """The bad messages."""
        return sorted(self._reasons)

    def bad(self) -> list[BadMessage]:
        """The bad messages with their reasons, in order."""
        return [BadMessage(owner, self._reasons[owner]) for owner in self.owners()]
