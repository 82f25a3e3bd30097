"""Tables of text: widths, cutting, headers."""

from __future__ import annotations

import io

import click
from hypothesis import given
from hypothesis import strategies as st

from lakeward.cli.output.text_table import TableColumn, TextTable, cell_width, fit_widths, shorten


def _written(columns: list[TableColumn], *batches: list[list[str | None]], width: int | None = None) -> list[str]:
    out = io.StringIO()
    table = TextTable(columns, out, width)
    for rows in batches:
        table.write(rows)
    return out.getvalue().splitlines()


def test_numbers_stand_right_and_texts_left() -> None:
    """Columns line up, without blanks at the end of a line."""
    lines = _written([TableColumn("id", is_number=True), TableColumn("name")], [["1", "a"], ["22", "bcd"]])
    assert lines == ["id  name", " 1  a", "22  bcd"]


def test_null_is_shown_as_such() -> None:
    """A missing value can be told from an empty text."""
    assert _written([TableColumn("a"), TableColumn("b")], [[None, "x"], ["", "y"]]) == ["a     b", "NULL  x", "      y"]


def test_line_breaks_do_not_break_the_table() -> None:
    """Whatever is in a value, a row is one line."""
    assert _written([TableColumn("a")], [["x\ny\t\x07z"]])[1] == "x\\ny\\t\\x07z"


def test_wide_characters_take_two_places() -> None:
    """Columns line up in a terminal that shows East Asian text."""
    lines = _written([TableColumn("a"), TableColumn("b")], [["東京", "x"], ["abc", "y"]])
    assert lines == ["a     b", "東京  x", "abc   y"]


def test_a_wider_value_later_brings_a_new_header() -> None:
    """When rows keep coming and one needs more room, columns widen and the header follows."""
    lines = _written([TableColumn("a"), TableColumn("b")], [["x", "1"]], [["xxxxxxxx", "2"]], [["yyyyyyyyy", "3"]])
    assert [line.split() for line in lines] == [
        ["a", "b"],
        ["x", "1"],
        ["a", "b"],
        ["xxxxxxxx", "2"],
        ["yyyyyyyyy", "3"],
    ]


def test_texts_are_cut_before_numbers_and_times() -> None:
    """On a narrow terminal the id and the time stay whole."""
    columns = [TableColumn("id", is_number=True), TableColumn("text", is_text=True), TableColumn("time")]
    lines = _written(columns, [["123456789012", "a long text without end", "12:00:00"]], width=36)
    assert lines[1] == "123456789012  a long text…  12:00:00"


def test_rows_that_cannot_fit_are_written_as_records() -> None:
    """A table wider than the terminal even when cut is shown a line per column."""
    columns = [TableColumn(f"c{i}") for i in range(4)]
    lines = [click.unstyle(line) for line in _written(columns, [["0123456789"] * 4], width=20)]
    assert lines[1:] == [f"c{i}  0123456789" for i in range(4)]


def test_the_header_is_repeated_on_each_page() -> None:
    """Who watches rows go by always has the names on the screen."""
    out = io.StringIO()
    TextTable([TableColumn("n")], out, page_rows=2).write([[str(i)] for i in range(5)])
    assert out.getvalue().split() == ["n", "0", "1", "n", "2", "3", "n", "4"]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 200))
def test_fitted_widths_never_grow_and_never_fall_below_their_floor(needed: list[int], width: int) -> None:
    """Shrinking takes only what is too much, from columns that can give."""
    floors = [min(n, 8) for n in needed]
    widths = fit_widths(needed, width, floors)
    assert all(floor <= w <= n for floor, w, n in zip(floors, widths, needed, strict=True))
    if sum(widths) + 2 * (len(widths) - 1) > width:
        assert widths == floors


@given(st.text(max_size=40), st.integers(2, 20))
def test_a_shortened_text_fits(text: str, width: int) -> None:
    """Cutting leaves at most the room there is."""
    assert cell_width(shorten(text, width)) <= max(width, 1)
