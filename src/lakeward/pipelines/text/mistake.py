"""Mistake: what is wrong with a file, and where; MistakesError: all there are, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeward.errors import ErrorCode, LakewardError


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """A sentence about a place; line and column count from 1, and are 0 where there is no file at all."""

    file: str
    line: int
    column: int
    sentence: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.sentence}"


class MistakesError(LakewardError):
    """Everything that is wrong with some files, a line each."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(sorted(set(mistakes)))
        count = len(self.mistakes)
        head = "There is one mistake" if count == 1 else f"There are {count} mistakes"
        super().__init__(
            ErrorCode.INVALID_CONFIG, "\n".join([f"{head}; nothing was started.", *map(str, self.mistakes)])
        )
