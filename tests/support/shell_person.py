"""A person at `lakeward shell`: types, presses keys, reads what is on the screen without colours."""

from __future__ import annotations

import re
from pathlib import Path

import pyte
from terminal import CTRL_C, Terminal

_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[a-zA-Z]|[78=>]|\][^\x07]*\x07)")
_PROMPT = "lakeward>"
#: What programs take a terminal for that does not say how large it is.
_COLUMNS, _LINES = 80, 24


class ShellPerson(Terminal):
    """One shell. What was on the screen before the last statement is not looked at."""

    def __init__(self, *arguments: str, state: Path, **environment: str) -> None:
        state.mkdir(exist_ok=True)
        given = {"LAKEWARD_STATE": str(state), "PROMPT_TOOLKIT_NO_CPR": "1", **environment}
        super().__init__("shell", *arguments, directory=state, **given)
        self._mark_at = 0

    @property
    def screen(self) -> str:
        """What came since the last statement."""
        return _ESCAPE.sub("", self.text[self._mark_at :]).replace("\r", "")

    def sees(self, *words: str, within_s: float = 120) -> bool:
        """Wait until all of the words are there."""
        return self.wait_until(lambda _: all(word in self.screen for word in words), within_s)

    def is_asked(self, within_s: float = 120) -> bool:
        """Wait for an empty prompt."""
        return self.wait_until(lambda _: self.screen.rstrip().endswith(_PROMPT), within_s)

    def type(self, text: str) -> None:
        """Type without an end."""
        self.press(text.encode())

    def gets(self, keys: bytes, *words: str) -> bool:
        """Press keys, and see what comes of it."""
        self._mark_at = len(self.text)
        self.press(keys)
        return self.sees(*words)

    def completes(self, typed: str, expected: str) -> bool:
        """Type, press Tab, and see what stands in the line of the cursor then."""
        self.type(f"{typed}\t")
        return self.wait_until(lambda text: expected in _line_of_cursor(text), 120)

    def ask(self, statement: str, within_s: float = 120) -> str:
        """Type a statement, press Enter, wait for the next prompt; what was told meanwhile."""
        self._mark_at = len(self.text)
        self.type(statement)
        end = "".join(statement[-8:].split())  # where the line is full, it goes on in the next one
        self.wait_until(lambda _: end in "".join(self.screen.split()), 20)
        self._mark_at = len(self.text)
        self.press(b"\r")
        assert self.is_asked(within_s), self.screen
        return self.screen.rpartition(_PROMPT)[0]

    def forget(self) -> None:
        """Ctrl-C, and a new prompt."""
        self.press(CTRL_C)
        assert self.is_asked(), self.screen
        self._mark_at = len(self.text)


def _line_of_cursor(text: str) -> str:
    """A prompt is drawn in pieces, with steps of the cursor in between: only a terminal knows what is where."""
    screen = pyte.Screen(_COLUMNS, _LINES)
    pyte.Stream(screen).feed(text)
    return str(screen.display[screen.cursor.y])
