"""The one form of a name or a password in which two of them are compared (RFC 4013).

The same word may be typed as different code points: an accent of its own or a letter that has one, a wide space.
"""

from __future__ import annotations

import stringprep
import unicodedata

_PROHIBITED = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
)


def prepared_text(text: str) -> str:
    """A text in that form; ValueError, which never quotes the text, when it has none."""
    if text.isascii() and text.isprintable():
        return text
    mapped = "".join(" " if stringprep.in_table_c12(one) else one for one in text if not stringprep.in_table_b1(one))
    normal = unicodedata.normalize("NFKC", mapped)
    if any(is_prohibited(one) for one in normal for is_prohibited in _PROHIBITED):
        raise ValueError("it has a character that cannot be typed, such as a control character")
    _check_direction(normal)
    return normal


def _check_direction(text: str) -> None:
    """Text that runs from right to left does so from its first to its last character."""
    if not any(map(stringprep.in_table_d1, text)):
        return
    is_whole = stringprep.in_table_d1(text[0]) and stringprep.in_table_d1(text[-1])
    if not is_whole or any(map(stringprep.in_table_d2, text)):
        raise ValueError("it mixes letters that run from right to left with others")
