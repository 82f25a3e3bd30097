"""StatementCompleter: hands what could follow to the prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

if TYPE_CHECKING:
    from lakeward.cli.commands.scripts.shell.completion.known_names import KnownNames
    from lakeward.spark.scripts.script import Script

#: In more than this nobody looks for a word.
_TEXT_MAX = 100_000


class StatementCompleter(Completer):
    """Asked on a thread of its own; it loads the language when it is first asked."""

    def __init__(self, script: Callable[[], Script]) -> None:
        self._script = script
        self._names: KnownNames | None = None

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002
        """What could stand in place of the word at the cursor."""
        if len(document.text) > _TEXT_MAX:
            return
        from lakeward.cli.commands.scripts.shell.completion.candidates import candidates
        from lakeward.cli.commands.scripts.shell.completion.known_names import KnownNames
        from lakeward.cli.commands.scripts.shell.completion.position import position_at

        if self._names is None:
            self._names = KnownNames(self._script)
        try:
            position = position_at(document.text, document.cursor_position)
            found = candidates(position, self._names)
        except Exception:  # noqa: BLE001 - a person who types is not to be bothered
            return
        for one in found:
            yield Completion(one.text, start_position=-len(position.word), display_meta=one.kind)
