"""Listings for people and for programs."""

from __future__ import annotations

import json

import pytest

from lakeward.cli.output.listing import count, moment, show_facts, show_listing

_ROWS = [
    {"table": "a.b", "buckets": 4, "keys": ["x", "y"], "is_log": True, "extra": {"k": "v"}},
    {"table": "a.long", "buckets": 12, "keys": [], "is_log": False, "extra": None},
]


def test_a_listing_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Named columns, whole numbers to the right, nothing as a dash."""
    show_listing(_ROWS, ["table", "buckets", "keys", "is_log", "extra"], "table", "nothing")
    assert capsys.readouterr().out.splitlines() == [
        "TABLE   BUCKETS  KEYS  IS LOG  EXTRA",
        "a.b           4  x, y  yes     k=v",
        "a.long       12  -     no      -",
    ]


def test_a_listing_is_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    """Programs get everything that is known, also when there is nothing."""
    show_listing(_ROWS, ["table"], "json", "nothing")
    assert json.loads(capsys.readouterr().out) == _ROWS
    show_listing([], ["table"], "json", "nothing")
    assert json.loads(capsys.readouterr().out) == []


def test_an_empty_listing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """A person is told; a pipe gets nothing."""
    show_listing([], ["table"], "table", "There are no tables.")
    assert capsys.readouterr() == ("", "There are no tables.\n")


def test_facts_without_a_value_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Only what there is to say is said, lined up."""
    show_facts({"table": "a.b", "comment": None, "rows": "0"})
    assert capsys.readouterr().out == "table: a.b\nrows:  0\n"


def test_counts_and_moments() -> None:
    """Numbers have thousands, one is one, and a time that is not known is none."""
    assert [count(1, "row"), count(0, "row"), count(12345, "row")] == ["1 row", "0 rows", "12,345 rows"]
    assert moment(1_785_000_000_000) == "2026-07-25 17:20:00Z"
    assert moment(0) is None
