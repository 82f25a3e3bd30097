"""Patterns of times: which letters Spark does not take, and where it needs help to find the fraction of a second."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.form import form
from lakeward.language.functions.shape.function import Call

_DAY_OF_WEEK: Final = ("the day of the week", "use DAYOFWEEK(time)")
#: Letters of Java's patterns that Spark does not take.
_NO_LETTERS: Final = {
    "Y": ("the year of the week", "y is the year"),
    "w": ("the week of the year", "use WEEK(time)"),
    "W": ("the week of the month", "use WEEK(time)"),
    **dict.fromkeys("uec", _DAY_OF_WEEK),
}
_FRACTION: Final = re.compile(r"(?P<head>[^S]*[yMdHhms])(?P<tail>S+[^S]*)")
#: A piece of a pattern: a text in quotes, a letter with those like it, or a sign.
_PIECE: Final = re.compile(r"'(?P<text>[^']*)'|(?P<letter>[A-Za-z])(?P=letter)*|[^A-Za-z']")
#: Letters whose digits are as many as the letters, from two on.
_DIGITS: Final = "yMdHhms"


def check_pattern(call: Call, pattern: exp.Expression) -> None:
    """Refuse letters that Spark refuses when rows come."""
    if isinstance(pattern, exp.Literal) and pattern.is_string:
        for letter in re.sub(r"'[^']*'", "", pattern.name):
            if letter in _NO_LETTERS:
                meaning, way = _NO_LETTERS[letter]
                raise call.refuse(f"{letter} in {pattern.name!r} is {meaning}, which Spark does not take: {way}.")


def text_and_pattern(call: Call) -> list[exp.Expression]:
    """The text and the pattern of a call; of yyyyMMddHHmmssSSS with a point before the fraction.

    Spark reads a fraction of any length, so that it cannot tell where a year ends that digits follow up to there.
    """
    text, pattern = call.arguments[:2]
    check_pattern(call, pattern)
    found = _FRACTION.fullmatch(pattern.name) if isinstance(pattern, exp.Literal) and pattern.is_string else None
    length = _length(found["head"]) if found is not None else None
    if found is None or length is None:
        return [text, pattern]
    pointed = form(f"concat(left({{0}}, {length}), '.', substr({{0}}, {length + 1}))", [text])
    return [pointed, exp.Literal.string(f"{found['head']}.{found['tail']}")]


def _length(pattern: str) -> int | None:
    """How long a text of a pattern is; None where that depends on the text."""
    length = 0
    for piece in _PIECE.finditer(pattern):
        if piece["text"] is not None:
            length += len(piece["text"]) or 1
        elif piece["letter"] is None:
            length += 1
        elif piece["letter"] in _DIGITS and len(piece[0]) == (4 if piece["letter"] == "y" else 2):
            length += len(piece[0])
        else:
            return None
    return length
