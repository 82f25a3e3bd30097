"""Colours."""

from __future__ import annotations

from lakeward.cli.commands.scripts.shell.highlight import colour


def test_words_texts_numbers_and_comments_have_a_colour_each() -> None:
    """Names have none; what is open goes on over lines."""
    lines = colour("select name, 12 -- how\nFROM t WHERE a = 'it\nis")
    shown = [[(style.removeprefix("class:"), text) for style, text, *_ in line if text.strip()] for line in lines]
    assert shown == [
        [("keyword", "select"), ("", "name"), ("", ", "), ("number", "12"), ("comment", "-- how")],
        [("keyword", "FROM"), ("", "t"), ("keyword", "WHERE"), ("", "a"), ("", " = "), ("text", "'it")],
        [("text", "is")],
    ]


def test_colours_change_no_character() -> None:
    """Line by line."""
    text = 'SELECT `a``b`, "c" /* x\ny */ FROM\n\nt;\n'
    assert ["".join(part[1] for part in line) for line in colour(text)] == text.split("\n")
