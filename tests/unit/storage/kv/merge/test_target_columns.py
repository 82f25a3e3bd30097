"""Target columns: what a partial update may name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.storage.kv.merge.target_columns import checked_targets, whole_rows_only


def table(*types: DataType, auto_increment: Sequence[str] = ()) -> TableInfo:
    """Columns a, b, c …; the key is a."""
    schema = Schema.of([("abcdef"[i], type_) for i, type_ in enumerate(types)], ["a"], auto_increment)
    return TableInfo(TablePath("shop", "orders"), 7, 1, TableDescriptor(schema, bucket_count=1), 0, 0)


PLAIN = table(t.INT(), t.INT(), t.INT())


@pytest.mark.parametrize("targets", [None, (), (0, 1, 2), (2, 1, 0, 0)])
def test_all_columns_are_whole_rows(targets: Sequence[int] | None) -> None:
    """Whoever names all, or none, writes whole rows."""
    assert checked_targets(PLAIN, targets) is None


def test_some_columns_are_those() -> None:
    """In any order."""
    assert checked_targets(PLAIN, (2, 0)) == frozenset({0, 2})


@pytest.mark.parametrize(
    ("info", "targets", "said"),
    [
        (PLAIN, (0, 3), "there is no column 3, there are 3"),
        (PLAIN, (-1, 0), "there is no column -1"),
        (PLAIN, (1, 2), "'a' is part of the primary key"),
        (table(t.INT(), t.INT().not_null(), t.INT()), (0, 2), "'b' is NOT NULL"),
        (table(t.INT(), t.INT().not_null(), t.INT()), (0, 1), "'b' is NOT NULL"),
        (table(t.INT(), t.BIGINT(), auto_increment=["b"]), None, "'b' is filled in by the server; name the other"),
        (table(t.INT(), t.BIGINT(), auto_increment=["b"]), (0, 1), "'b' is filled in by the server and cannot"),
    ],
)
def test_what_a_table_cannot_take_is_refused(info: TableInfo, targets: Sequence[int] | None, said: str) -> None:
    """With the column that is in the way, and as an error that no client sends again."""
    with pytest.raises(LakewardError, match=said) as raised:
        checked_targets(info, targets)
    assert raised.value.code is ErrorCode.INVALID_TARGET_COLUMN
    assert "shop.orders" in raised.value.message


def test_a_merge_engine_may_want_whole_rows() -> None:
    """It is named."""
    wrong = whole_rows_only(PLAIN, "first_row")
    assert wrong.code is ErrorCode.INVALID_TARGET_COLUMN
    assert "merge engine 'first_row' takes whole rows" in wrong.message
