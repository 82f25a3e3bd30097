"""Options of made-up columns: what they mean, and what is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from lakeward.errors import LakewardError
from lakeward.model.type_text import parse_type
from lakeward.spark.scripts.connectors.datagen.recipes import Recipe, recipes_of, rows_in_all


def recipe(type_: str, **options: str) -> Recipe:
    """The recipe of a column `x`; `_` stands for `-`, and `__` for a dot."""
    given = {f"fields.x.{key.replace('__', '.').replace('_', '-')}": value for key, value in options.items()}
    return recipes_of([("x", parse_type(type_))], given)[0]


def test_bounds_are_those_of_the_type() -> None:
    """Exactly, also where a number has 38 digits; given ones are rounded inwards."""
    assert (recipe("TINYINT").low, recipe("TINYINT").high) == (-128, 127)
    assert recipe("DECIMAL(38, 5)").high == 10**38 - 1
    assert recipe("DECIMAL(4, 2)", min="0.005", max="1.999").low == Decimal(1)
    assert recipe("DECIMAL(4, 2)", min="0.005", max="1.999").high == Decimal(199)


def test_lengths() -> None:
    """100 characters, 3 elements, or what the type says."""
    lengths = [recipe(t).length for t in ("STRING", "BYTES", "CHAR(7)", "ARRAY<INT>", "MAP<INT, INT>")]
    assert lengths == [100, 100, 7, 3, 3]


def test_a_sequence_or_a_number_ends_the_rows() -> None:
    """Whichever comes first."""
    sequence = recipe("INT", kind="sequence", start="1", end="10")
    assert rows_in_all([sequence], None) == 10
    assert rows_in_all([sequence], 4) == 4
    assert rows_in_all([recipe("INT")], None) is None


@pytest.mark.parametrize(
    ("type_", "options", "why"),
    [
        ("INT", {"min": "5", "max": "1"}, "'min' (5) is above 'max' (1)"),
        ("INT", {"min": "x"}, "'min' is 'x', which is no number"),
        ("TINYINT", {"max": "1000"}, "does not fit into TINYINT"),
        ("INT", {"min": "0.4", "max": "0.6"}, "there is no INT from 0.4 to 0.6"),
        ("INT", {"length": "3"}, "'length' means nothing for the type INT"),
        ("INT", {"kind": "sequence", "start": "1"}, "a sequence needs 'start' and 'end'"),
        ("INT", {"start": "1"}, "set 'kind' to 'sequence'"),
        ("BOOLEAN", {"kind": "sequence"}, "there is no sequence of BOOLEAN"),
        ("TINYINT", {"kind": "sequence", "start": "1", "end": "200"}, "does not fit into TINYINT"),
        ("INT NOT NULL", {"null_rate": "0.5"}, "a column that is NOT NULL cannot have 'null-rate'"),
        ("CHAR(3)", {"length": "4"}, "the length of CHAR(3) is part of its type"),
        ("INT", {"null_rate": "2"}, "2.0 is not between 0 and 1"),
        ("INT", {"colour": "red"}, "'colour' is nothing that a field can be told"),
        ("ROW<a INT>", {"b__min": "1"}, "there is no field 'x.b'; the fields are x, x.a"),
        ("ARRAY<INT>", {"element__length": "1"}, "Field 'x.element': 'length' means nothing"),
    ],
)
def test_what_is_wrong_is_named(type_: str, options: dict[str, str], why: str) -> None:
    """With the field and the reason."""
    with pytest.raises(LakewardError) as wrong:
        recipe(type_, **options)
    assert why in str(wrong.value)
