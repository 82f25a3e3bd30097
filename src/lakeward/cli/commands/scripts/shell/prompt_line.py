"""PromptLine: the line that a person types; it is several lines until its statements are whole."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from lakeward.cli.commands.scripts.shell.completion.words import is_command
from lakeward.cli.commands.scripts.shell.highlight import STYLE, StatementLexer

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.history import History

    from lakeward.cli.commands.scripts.shell.interrupts import Interrupts
    from lakeward.cli.commands.scripts.shell.keys import HeldKeys

PROMPT, MORE = "lakeward> ", "     ...> "


class PromptLine:
    """Asks with keys, colours and completion; a terminal that knows no cursor is asked plainly."""

    def __init__(
        self,
        history: History,
        completer: Completer,
        keys: HeldKeys,
        interrupts: Interrupts,
        on_shown: Callable[[], None],
    ) -> None:
        """`on_shown` is called when the first prompt is on the screen."""
        self._on_shown: Callable[[], None] | None = on_shown
        self._history = history
        self._keys = keys
        self._interrupts = interrupts
        self._session: PromptSession[str] | None = None
        if os.environ.get("TERM", "dumb") != "dumb":
            self._session = PromptSession(
                history=history,
                completer=completer,
                complete_in_thread=True,
                complete_while_typing=False,
                reserve_space_for_menu=6,
                lexer=StatementLexer(),
                style=STYLE,
                multiline=True,
                prompt_continuation=lambda _width, _line, wraps: "" if wraps else MORE,
                key_bindings=_keys(),
                enable_suspend=True,
                search_ignore_case=True,
            )
            self._session.app.after_render += self._tell_shown

    def ask(self) -> str:
        """What was typed; EOFError after Ctrl-D, KeyboardInterrupt after Ctrl-C."""
        if self._session is None:
            return self._ask_plainly()
        with patch_stdout(raw=True):
            return self._session.prompt(PROMPT)

    def _tell_shown(self, _application: Application[str] | None = None) -> None:
        if self._on_shown is not None:
            told, self._on_shown = self._on_shown, None
            told()

    def _ask_plainly(self) -> str:
        text = ""
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="surrogateescape")  # what is no UTF-8 is told by whoever runs it
        while True:
            print(MORE if text else PROMPT, end="", flush=True)
            self._tell_shown()
            try:
                with self._keys.releasing(), self._interrupts.raising():
                    text += input()
            except EOFError:
                if not text.strip():
                    raise
                return text
            if is_whole(text):
                self._history.append_string(text)
                return text
            text += "\n"


def is_whole(text: str) -> bool:
    """Whether a text can be run as it is: it is nothing, a command of the shell, or statements with their ends."""
    if not text.strip() or is_command(text):
        return True
    rest = text[text.rfind(";") + 1 :].strip()
    if rest and "--" not in rest and "*/" not in rest:
        return False  # seen without reading what may be long
    from lakeward.language.grammar import is_complete

    return is_complete(text)


def _keys() -> KeyBindings:
    keys = KeyBindings()
    is_typing = has_focus(DEFAULT_BUFFER) & ~is_searching

    @keys.add("enter", filter=is_typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None  # what was chosen stands there already
        elif is_whole(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    @keys.add("escape", "enter", filter=is_typing)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
