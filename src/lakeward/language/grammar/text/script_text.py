"""ScriptText: a script, and the line and column of every offset in it."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from lakeward.language.place import Place


class ScriptText:
    """A text that knows its lines."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(at + 1 for at, char in enumerate(self.text) if char == "\n")]

    def place(self, offset: int) -> Place:
        """Where an offset stands."""
        line = bisect_right(self._line_starts, offset)
        return Place(line, offset - self._line_starts[line - 1] + 1)
