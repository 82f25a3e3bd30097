"""Writing some columns: which the table takes, what becomes of the others, and numbered rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from merge_tables import INT, STRING, PkTable, column

from lakeward.errors import ErrorCode, InvalidError
from lakeward.model import data_types as t
from lakeward.storage.kv.merge.row_merger import Fate
from lakeward.storage.kv.merge.target_columns import checked_targets

KEEP, REMOVE = Fate.KEEP, Fate.REMOVE
FORMATS = pytest.mark.parametrize("kv_format", ["COMPACTED", "INDEXED"])


def table(kv_format: str = "COMPACTED", **properties: str) -> PkTable:
    """A table (k INT, a INT, b STRING) where the last value wins."""
    own = {"table." + name.replace("_", "."): value for name, value in properties.items()}
    return PkTable([("k", INT), ("a", INT), ("b", STRING)], properties=own | {"table.kv.format": kv_format})


def summing(**properties: str) -> PkTable:
    """A table (k INT, s BIGINT sum, l STRING) that aggregates."""
    own = {"table." + name.replace("_", "."): value for name, value in properties.items()}
    return PkTable(
        [("k", INT), column("s", t.BIGINT(), "sum"), ("l", STRING)],
        properties=own | {"table.merge-engine": "aggregation"},
    )


@FORMATS
def test_other_columns_keep_what_they_have(kv_format: str) -> None:
    """Target columns take the new cell, NULL too; the others the old one, whatever the new row has there."""
    some = table(kv_format)
    assert some.upsert((1, 10, "x"), (1, 20, "not asked"), targets=[0, 1]) == (1, 20, "x")
    assert some.upsert((1, 10, "x"), (1, None, None), targets=[0, 1]) == (1, None, "x")
    assert some.upsert(None, (1, 20, "not asked"), targets=[0, 1]) == (1, 20, None)
    assert some.upsert((1, 10, "x"), (1, None, "y"), targets=[2, 0, 2]) == (1, 10, "y")


def test_a_row_that_says_only_its_key_changes_nothing() -> None:
    """It inserts a missing row, and leaves an existing one alone; an aggregation writes the same row again."""
    assert table().upsert((1, 10, "x"), (1, None, None), targets=[0]) is KEEP
    assert table().upsert(None, (1, None, None), targets=[0]) == (1, None, None)
    assert summing().upsert((1, 10, "x"), (1, None, None), targets=[0]) == (1, 10, "x")


@FORMATS
def test_deleting_some_columns_clears_them(kv_format: str) -> None:
    """The row goes when nothing but its key is left; else the target columns are NULL from then on."""
    some = table(kv_format)
    assert some.delete((1, 10, "x"), targets=[0, 1]) == (1, None, "x")
    assert some.delete((1, 10, None), targets=[0, 1]) is REMOVE
    assert some.delete((1, None, None), targets=[0]) is REMOVE
    assert some.delete((1, None, "x"), targets=[0]) == (1, None, "x")
    assert some.delete(None, targets=[0, 1]) is KEEP


def test_deleting_some_columns_follows_the_delete_behaviour() -> None:
    """ignore keeps, disable refuses, as for whole rows."""
    assert table(delete_behavior="ignore").delete((1, 10, "x"), targets=[0, 1]) is KEEP
    with pytest.raises(InvalidError, match="Delete operations are disabled for this table"):
        table(delete_behavior="disable").delete((1, 10, "x"), targets=[0, 1])


def test_only_target_columns_aggregate() -> None:
    """In an aggregation table the target columns merge by their functions, the others stay."""
    assert summing().upsert((1, 10, "x"), (1, 5, "not asked"), targets=[0, 1]) == (1, 15, "x")
    assert summing().upsert(None, (1, 5, "not asked"), targets=[0, 1]) == (1, 5, None)
    assert summing().delete((1, 10, "x"), targets=[0, 1]) is KEEP
    allowing = summing(delete_behavior="allow")
    assert allowing.delete((1, 10, "x"), targets=[0, 1]) == (1, None, "x")
    assert allowing.delete((1, 10, None), targets=[0, 1]) is REMOVE


def test_rows_of_earlier_schemas_are_padded() -> None:
    """Columns that were added since are NULL, and the merged row has the latest schema."""
    some = table()
    old = some.value(1, 10, "x")
    some.add_column(column("c", t.ARRAY(INT)))
    assert some.merger([0, 3]).upsert(old, some.value(1, None, None, (7,))) == some.value(1, 10, "x", (7,))
    assert some.merger([0, 1]).upsert(old, some.value(1, 20, None, schema_id=1)) == some.value(1, 20, "x", None)
    assert some.merger([0, 1, 2]).delete(old) is REMOVE
    assert some.merger([0, 1]).delete(old) == some.value(1, None, "x", None)


def test_all_columns_are_a_whole_row() -> None:
    """Naming every column is the same as naming none, also where columns are NOT NULL."""
    strict = PkTable([("k", INT), ("n", INT.not_null())])
    assert strict.upsert((1, 1), (1, 2), targets=[1, 0]) == (1, 2)
    assert checked_targets(strict.info, ()) is None
    assert checked_targets(strict.info, None) is None


@pytest.mark.parametrize(
    ("some", "targets", "why"),
    [
        (table(), [1], "'k' is part of the primary key and must be a target column"),
        (table(), [0, 3], "there is no column 3, there are 3"),
        (table(), [-1, 0], "there is no column -1"),
        (PkTable([("k", INT), ("n", INT.not_null()), ("b", STRING)]), [0, 1], "'n' is NOT NULL"),
        (PkTable([("k", INT), ("j", INT), ("b", STRING)], ("k", "j")), [0, 2], "'j' is part of the primary key"),
        (summing(), [1, 2], "'k' is part of the primary key"),
        (table(**{"merge-engine": "first_row"}), [0, 1], "'first_row' takes whole rows"),
        (table(**{"merge-engine": "versioned"}), [0, 1], "'versioned' takes whole rows"),
        (PkTable([("k", INT), ("id", INT)], auto_increment=["id"]), None, "name the other columns"),
        (PkTable([("k", INT), ("id", INT)], auto_increment=["id"]), [0, 1], "'id' is filled in by the server"),
    ],
)
def test_targets_that_a_table_cannot_take(some: PkTable, targets: Sequence[int] | None, why: str) -> None:
    """They are told before a row is looked at."""
    with pytest.raises(InvalidError, match=why) as caught:
        some.merger(targets)
    assert caught.value.code is ErrorCode.INVALID_TARGET_COLUMN


def test_a_null_key_is_refused() -> None:
    """A row without a key cannot be found again."""
    with pytest.raises(InvalidError, match="'k', which is part of the primary key"):
        table().upsert(None, (None, 1, None), targets=[0, 1])


@FORMATS
@pytest.mark.parametrize("type_", [INT, t.BIGINT()], ids=str)
def test_new_rows_are_numbered(kv_format: str, type_: t.DataType) -> None:
    """A new key takes the next number, an existing one keeps its own, also after a deletion of the other columns."""
    numbers = iter(range(7, 100))
    some = PkTable(
        [("k", INT), ("id", type_), ("b", STRING)], properties={"table.kv.format": kv_format}, auto_increment=["id"]
    )
    merger = some.merger([0, 2], next_id=lambda: next(numbers))
    first = merger.upsert(None, some.value(1, None, "x"))
    assert some.outcome(first) == (1, 7, "x")
    assert isinstance(first, bytes)
    assert some.outcome(merger.upsert(first, some.value(1, None, "y"))) == (1, 7, "y")
    assert some.outcome(merger.upsert(None, some.value(2, 99, "z"))) == (2, 8, "z")
    assert some.outcome(merger.delete(first)) == (1, 7, None)
    by_key = some.merger([0], next_id=lambda: next(numbers))
    assert some.outcome(by_key.upsert(None, some.value(3, None, None))) == (3, 9, None)
    assert by_key.upsert(first, some.value(1, None, None)) is KEEP


def test_an_aggregation_numbers_rows_too() -> None:
    """The number is no matter of merging: the first row of a key gets it."""
    some = PkTable(
        [("k", INT), ("id", INT), column("s", INT, "sum")],
        properties={"table.merge-engine": "aggregation"},
        auto_increment=["id"],
    )
    merger = some.merger([0, 2], next_id=lambda: 5)
    first = merger.upsert(None, some.value(1, None, 3))
    assert isinstance(first, bytes)
    assert some.outcome(merger.upsert(first, some.value(1, None, 4))) == (1, 5, 7)
