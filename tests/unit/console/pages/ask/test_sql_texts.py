"""Texts of SQL."""

from __future__ import annotations

from lakeward.console.pages.ask.sql_texts import error_place, sql_name


def test_a_place_is_a_line_and_a_column_with_a_mark_under_it() -> None:
    """As people count, from one."""
    place = error_place("SELECT 1\nFROM\tnowhere\nWHERE x", 14)
    assert (place.line, place.column, place.text) == (2, 6, "FROM nowhere")
    assert place.text[place.mark.index("^")] == "n"


def test_of_a_long_line_the_part_around_the_place_is_shown() -> None:
    """A question of one long line does not make the page wider."""
    place = error_place("x" * 500 + "!" + "y" * 500, 500)
    assert place.column == 501
    assert len(place.text) <= 60
    assert place.text[place.mark.index("^")] == "!"


def test_the_end_of_a_text_is_a_place_too() -> None:
    """What is missing is missing there."""
    assert error_place("SELECT", 99) == error_place("SELECT", 6)
    assert error_place("", 0).line == 1


def test_names_are_quoted_where_they_must_be() -> None:
    """A table may have any name."""
    assert sql_name("shop.orders") == "shop.orders"
    assert sql_name('my-shop.orders$lake"') == '"my-shop"."orders$lake"""'
