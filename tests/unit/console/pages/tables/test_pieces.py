"""Piece: one page of a long list."""

from __future__ import annotations

import pytest

from lakeward.console.pages.tables.pieces import piece_of

_NAMES = [f"table_{number:03}" for number in range(120)]


@pytest.mark.parametrize(("page", "number"), [("", 1), ("2", 2), ("99", 3), ("0", 1), ("-1", 1), ("x", 1), ("²", 1)])
def test_the_nearest_page_is_shown(page: str, number: int) -> None:
    """Whatever an address says."""
    assert piece_of(_NAMES, "", page, 50).number == number


def test_a_filter_comes_before_pages() -> None:
    """What is found is counted, and so is all."""
    piece = piece_of(_NAMES, " TABLE_01 ", "1", 4)
    assert (piece.found, piece.total, piece.last, list(piece.rows)) == (10, 120, 3, _NAMES[10:14])
    assert piece_of(_NAMES, "none", "1", 4).rows == []
