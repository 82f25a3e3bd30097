"""Rows of batches for which a condition is true."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakeward.query.duckdb.question.batch_filter import batch_filter
from lakeward.query.duckdb.question.question_error import QuestionError

ROWS = pa.record_batch(
    {
        "id": pa.array([1, 2, 3, None], pa.int64()),
        "Name": pa.array(["a", None, "c", "d"]),
        "at": pa.array([1, 2, 3, 4], pa.timestamp("ns", tz="UTC")),
        "raw": pa.array([b"\x00", b"\x01", None, b""]),
    }
)


def test_rows_keep_their_order_and_their_types() -> None:
    """What comes out are rows of the batch itself, with types that DuckDB does not have."""
    with batch_filter("id >= 2 -- the larger ones", ROWS.schema) as kept:
        found = kept.matching(ROWS)
        assert found.to_pydict()["id"] == [2, 3]
        assert found.schema == ROWS.schema
        assert kept.matching(ROWS.slice(0, 1)).num_rows == 0


def test_a_condition_that_is_null_does_not_hold() -> None:
    """As in a WHERE."""
    with batch_filter("name <> 'a'", ROWS.schema) as kept:
        assert kept.matching(ROWS).column("Name").to_pylist() == ["c", "d"]


@pytest.mark.parametrize("where", ["nope = 1", "id >", "id = 'x'", "Name > 1 + raw"])
def test_a_wrong_condition_is_refused_before_the_first_batch(where: str) -> None:
    """People are told at once, as a sentence."""
    with pytest.raises(QuestionError) as refused, batch_filter(where, ROWS.schema):
        pass
    assert "{" not in refused.value.message
