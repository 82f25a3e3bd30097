"""Arrow rows → what a page shows of them."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa

from lakeward.console.rows.shown_rows import ShownCell, shown_columns, shown_rows


def test_null_is_told_apart_from_its_word() -> None:
    """A text may be NULL, too."""
    rows = shown_rows(pa.table({"a": pa.array([None, "NULL", ""])})).rows
    assert [cell.is_null for (cell,) in rows] == [True, False, False]
    assert [cell.to_json() for (cell,) in rows] == [None, "NULL", ""]


def test_values_are_written_for_people() -> None:
    """Bytes in hexadecimal digits, nested values as JSON, moments by the rule of their type."""
    moment = dt.datetime(2026, 11, 18, 4, tzinfo=dt.UTC)
    table = pa.table(
        {
            "raw": pa.array([b"\x00\xff"]),
            "nested": pa.array([{"a": [1, None]}]),
            "zoned": pa.array([moment], pa.timestamp("ms", tz="UTC")),
            "plain": pa.array([moment.replace(tzinfo=None)], pa.timestamp("s")),
        }
    )
    shown = shown_rows(table)
    assert [cell.text for cell in shown.rows[0]] == [
        "0x00ff",
        '{"a": [1, null]}',
        "2026-11-18 04:00:00.000Z",
        "2026-11-18 04:00:00",
    ]
    assert [column.rule for column in shown.columns] == ["", "", "in UTC", "without a time zone"]


def test_a_long_value_is_cut_and_there_on_demand() -> None:
    """… up to a bound, which is told."""
    (row,) = shown_rows(pa.table({"a": ["x" * 500]}), full_length_max=300).rows
    assert row[0].text == "x" * 120 + "…"
    assert row[0].full == "x" * 300 + "… (the first 300 of 500 characters)"
    assert row[0].to_json() == [row[0].text, row[0].full]


def test_what_a_browser_does_not_draw_is_drawn() -> None:
    """A NUL or an escape would vanish; lines and tabs stay."""
    (row,) = shown_rows(pa.table({"a": ["a\x00\x1b\n\tb"]})).rows
    assert row == [ShownCell("a␀␛\n\tb")]


def test_types_that_only_answers_have_are_shown_too() -> None:
    """DuckDB's intervals, enums and durations are none of a table."""
    table = pa.table(
        {
            "enum": pa.array(["a", None]).dictionary_encode(),
            "duration": pa.array([1, None], pa.duration("s")),
            "unsigned": pa.array([1, None], pa.uint64()),
        }
    )
    shown = shown_rows(table)
    assert [cell.is_null for cell in shown.rows[1]] == [True, True, True]
    assert shown.rows[0][0].text == "a"
    assert all(column.type for column in shown_columns(table.schema))
