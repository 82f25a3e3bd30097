"""Place: where in a script something stands; ScriptError: what is wrong there, and what was expected."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.errors import ErrorCode, LakewardError


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line and a column, both from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"

    def after(self, text: str) -> Place:
        """The place behind a text that begins here."""
        lines = text.split("\n")
        return Place(self.line + len(lines) - 1, len(lines[-1]) + (self.column if len(lines) == 1 else 1))


class ScriptError(LakewardError):
    """What is wrong with a script: the sentence begins with the place, and says what to do."""

    def __init__(self, place: Place, sentence: str) -> None:
        super().__init__(ErrorCode.INVALID_CONFIG, f"{str(place).capitalize()}: {sentence}")
        self.place = place
        self.sentence = sentence
