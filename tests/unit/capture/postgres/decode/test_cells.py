"""Lines of COPY as cells, and cells as keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.capture.postgres.decode.cells import copy_cells
from lakeward.errors import CorruptError

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\v": "\\v"}
values = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


def line(row: list[str | None]) -> bytes:
    """As COPY writes a row in its text format."""
    cells = ("\\N" if v is None else "".join(_ESCAPES.get(letter, letter) for letter in v) for v in row)
    return ("\t".join(cells) + "\n").encode()


@given(st.lists(st.lists(values, min_size=3, max_size=3), max_size=5))
def test_lines_become_the_values_that_were_written(rows: list[list[str | None]]) -> None:
    """Whatever the values are: NULL is not the text \\N, and letters that divide cells may stand in them."""
    cells = copy_cells(b"".join(map(line, rows)), 3)
    columns = [[v and v.decode() if v else v for v in cells.texts(n).to_pylist()] for n in range(3)]
    assert [[v.decode() if isinstance(v, bytes) else v for v in row] for row in zip(*columns, strict=True)] == rows


@given(st.lists(st.tuples(values, values), min_size=2, max_size=2))
def test_keys_are_equal_where_all_values_are(rows: list[tuple[str | None, str | None]]) -> None:
    """Of ('a', 'bc') and ('ab', 'c') too, and NULL is not the empty text."""
    one, other = copy_cells(b"".join(line(list(row)) for row in rows), 2).keys([0, 1]).to_pylist()
    assert (one == other) == (rows[0] == rows[1])


def test_lines_of_another_shape_are_refused() -> None:
    """More columns, or fewer."""
    for columns in (1, 3):
        with pytest.raises(CorruptError):
            copy_cells(b"1\t2\n", columns)
