"""Finding the row that does not fit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward.cli.files.bad_row import rows_that_fit


@given(st.lists(st.booleans(), max_size=50))
def test_the_first_misfit_is_found(fits: list[bool]) -> None:
    """All rows before it can be converted, it cannot."""

    def attempt(rows: int) -> None:
        if not all(fits[:rows]):
            raise ValueError("does not fit")

    assert rows_that_fit(len(fits), attempt) == (fits.index(False) if False in fits else len(fits))
