"""Columns are told apart by their numbers."""

from __future__ import annotations

from lakeward.capture.postgres.read.schema_changes import number_columns, renames
from lakeward.model.data_types import INT
from lakeward.model.schema import Column


def columns(**numbers: int) -> list[Column]:
    """Columns with numbers."""
    return [Column(name, INT(), number) for name, number in numbers.items()]


def told(*names: str) -> list[Column]:
    """Columns as a stream tells them."""
    return [Column(name, INT()) for name in names]


def numbers_of(names: list[Column], known: list[Column], now: dict[int, str]) -> dict[str, int]:
    """The numbers that were found."""
    return {column.name: column.id for column in number_columns(names, known, now)}


def test_a_rename_keeps_its_number_and_a_new_column_has_another() -> None:
    """The last column dropped and one added looks the same as a rename but for the number."""
    known = columns(a=1, b=2)
    renamed = number_columns(told("a", "x"), known, {1: "a", 2: "x"})
    assert renames(known, renamed) == {"b": "x"}
    replaced = number_columns(told("a", "x"), known, {1: "a", 3: "x"})
    assert renames(known, replaced) == {}
    assert numbers_of(told("a", "x"), known, {1: "a", 3: "x"}) == {"a": 1, "x": 3}


def test_a_name_between_two_names() -> None:
    """Told x, which is called y by now; it is the one that is known under neither name."""
    assert numbers_of(told("a", "x"), columns(a=1, b=2), {1: "a", 2: "y"}) == {"a": 1, "x": 2}


def test_a_column_that_came_and_went() -> None:
    """The catalog does not have it any more; it gets a number that is free."""
    assert numbers_of(told("a", "x"), columns(a=1), {1: "a", 3: "c"}) == {"a": 1, "x": 4}
