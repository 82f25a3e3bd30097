"""FilledDocument: a document with its references filled in, and what a JSON schema cannot say about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from lakeward.language.place import ScriptError
from lakeward.options.kinds import TEXT
from lakeward.options.option import OptionTable
from lakeward.pipelines.text.document import Document, Path
from lakeward.pipelines.text.mistake import Mistake
from lakeward.pipelines.text.references import References

T = TypeVar("T")
_NAME_MAX = 100
_UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')


class FilledDocument:
    """Values by path, as text; every mistake is noted, and reading goes on."""

    def __init__(self, document: Document, references: References, mistakes: list[Mistake]) -> None:
        self.document = document
        self._mistakes = mistakes
        self._texts: dict[Path, str] = {}
        self.secret_paths: set[Path] = set()
        for path, text in document.texts.items():
            try:
                self._texts[path], is_secret = references.fill(text)
            except ValueError as wrong:
                self.complain(path, f"{wrong}.")
                continue
            if is_secret:
                self.secret_paths.add(path)

    def complain(self, path: Path, sentence: str, *, at_key: bool = False) -> None:
        """Note a mistake."""
        self._mistakes.append(self.document.mistake(path, sentence, at_key=at_key))

    def section(self, path: Path) -> dict[str, Any]:
        """The map at a path; empty where there is none, of which the schema complains."""
        value: Any = self.document.value
        for step in path:
            value = value[step]
        return value if isinstance(value, dict) else {}

    def items(self, key: str) -> list[Path]:
        """Paths of the items of a list."""
        value = self.document.value.get(key)
        return [(key, i) for i, item in enumerate(value) if isinstance(item, dict)] if isinstance(value, list) else []

    def text(self, path: Path) -> str | None:
        """A value as text: of a list with commas, of a map as key:value."""
        if path in self._texts:
            return self._texts[path]
        inner = sorted((one for one in self._texts if one[: len(path)] == path), key=str)
        if not inner:
            return None
        pairs = [self._texts[one] if isinstance(one[-1], int) else f"{one[-1]}:{self._texts[one]}" for one in inner]
        return ",".join(pairs)

    def options(self, path: Path, rows: OptionTable) -> dict[str, str]:
        """The options of a section; one whose value cannot be read is a mistake."""
        found: dict[str, str] = {}
        for key in self.section(path):
            text = self.text((*path, key))
            row = rows.rows.get(key)
            if text is None or (row is None and not rows.is_open(key)):
                continue
            found[key] = text
            if row is None or row.kind is TEXT or row.kind.name.startswith("one of "):
                continue
            hidden = row.secret or self.is_secret((*path, key))
            self.read((*path, key), row.kind.parse, text, f"'{key}'", hidden=hidden)
        return found

    def is_secret(self, path: Path) -> bool:
        """Whether a value, or a part of it, came by a reference."""
        return any(one[: len(path)] == path for one in self.secret_paths)

    def read(self, path: Path, parse: Callable[[str], T], text: str, what: str, *, hidden: bool = False) -> T | None:
        """What a text means; None where it means nothing, which is a mistake."""
        try:
            return parse(text)
        except (ValueError, OverflowError) as wrong:
            why = "its value, which is not shown, cannot be read" if hidden else str(wrong)
            self.complain(path, f"{what}: {why}.")
            return None

    def expression(self, path: Path, parse: Callable[[str], T]) -> T | None:
        """What an expression means; a mistake is noted at its place inside of the text."""
        text = self.text(path)
        if text is None:
            return None
        try:
            return parse(text)
        except ScriptError as wrong:
            mistake = self.document.mistake(path, f"'{path[-1]}': {wrong.sentence}")
            if wrong.place.line == 1 and path not in self.document.blocks:
                column = mistake.column + wrong.place.column - 1 + (path in self.document.quoted)
                mistake = Mistake(mistake.file, mistake.line, column, mistake.sentence)
            elif path in self.document.blocks:
                mistake = Mistake(mistake.file, mistake.line + wrong.place.line, wrong.place.column, mistake.sentence)
            self._mistakes.append(mistake)
            return None


def parse_name(text: str) -> str:
    """The name of a pipeline, of which folders and a slot are named; a ValueError where it cannot be one."""
    if len(text) > _NAME_MAX or text != text.strip() or text[:1] in {"", ".", "-"} or _UNSAFE.search(text):
        raise ValueError(
            f'{text!r} is no name for a pipeline: at most {_NAME_MAX} characters, none of / \\ : * ? " < > | nor of '
            "control, and no '.', '-' or space in front"
        )
    return text


def parse_time_zone(text: str) -> str:
    """A time zone's name; a ValueError where there is no such zone."""
    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"'{text}' is no time zone; expected one such as Europe/Berlin or UTC") from None
    return text
