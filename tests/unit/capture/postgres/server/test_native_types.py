"""Types of PostgreSQL → ours; all of them are in tests/integration/test_postgres_types.py, by value."""

from __future__ import annotations

import pytest

from lakeward.capture.postgres.server.native_types import TypeInfo, data_type

_NUMERIC = 1700


def modifier(digits: int, scale: int) -> int:
    """As the catalog has it."""
    return ((digits << 16) | (scale & 0x7FF)) + 4


@pytest.mark.parametrize(
    ("declared", "ours"),
    [
        (modifier(10, 2), "DECIMAL(10, 2)"),
        (modifier(3, -2), "DECIMAL(5, 0)"),
        (modifier(2, 5), "DECIMAL(5, 5)"),
        (modifier(39, 0), "STRING"),
        (-1, "STRING"),
    ],
)
def test_numbers_have_the_digits_that_were_declared(declared: int, ours: str) -> None:
    """Without a declaration, or with more digits than we have, they are text."""
    assert str(data_type(_NUMERIC, declared, {})) == ours


def test_domains_and_arrays_are_what_they_are_made_of() -> None:
    """A domain over a domain, an array of a domain; what is unknown is text."""
    known = {9: TypeInfo(9, base=8), 8: TypeInfo(8, base=_NUMERIC, modifier=modifier(6, 1)), 7: TypeInfo(7, element=9)}
    assert str(data_type(9, -1, known)) == "DECIMAL(6, 1)"
    assert str(data_type(7, -1, known)) == "ARRAY<DECIMAL(6, 1)>"
    assert str(data_type(12345, -1, known)) == "STRING"
