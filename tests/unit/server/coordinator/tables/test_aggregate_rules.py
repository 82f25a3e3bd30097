"""Which aggregation functions fit which columns."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import BIGINT, BOOLEAN, BYTES, INT, STRING, TIMESTAMP, DataType
from lakeward.model.schema import Aggregate, Column, Schema
from lakeward.server.coordinator.tables.aggregate_rules import check_aggregates


def schema(function: str, type_: DataType, **parameters: str) -> Schema:
    """A key and one column that aggregates."""
    aggregate = Aggregate(function, tuple(parameters.items()))
    return Schema.of([Column("id", INT()), Column("c", type_, aggregate=aggregate)], ["id"])


@pytest.mark.parametrize(
    ("function", "type_", "parameters"),
    [
        ("sum", BIGINT(), {}),
        ("max", TIMESTAMP(), {}),
        ("min", STRING(), {}),
        ("listagg", STRING(), {"delimiter": ";"}),
        ("string_agg", STRING(), {}),
        ("bool_or", BOOLEAN(), {}),
        ("rbm32", BYTES(), {}),
        ("last_value", BYTES(), {}),
        ("first_value_ignore_nulls", BOOLEAN(), {}),
    ],
)
def test_functions_that_fit(function: str, type_: DataType, parameters: dict[str, str]) -> None:
    """Each function takes its own types; value selectors take any."""
    check_aggregates(schema(function, type_, **parameters), aggregating=True)


@pytest.mark.parametrize(
    ("function", "type_", "parameters"),
    [
        ("sum", STRING(), {}),
        ("max", BOOLEAN(), {}),
        ("listagg", INT(), {}),
        ("listagg", STRING(), {"delimiter": ""}),
        ("listagg", STRING(), {"separator": ";"}),
        ("sum", INT(), {"delimiter": ";"}),
        ("bool_and", INT(), {}),
        ("rbm64", STRING(), {}),
    ],
)
def test_functions_that_do_not_fit(function: str, type_: DataType, parameters: dict[str, str]) -> None:
    """A wrong type or parameter names the column."""
    with pytest.raises(LakewardError, match="'c'") as refused:
        check_aggregates(schema(function, type_, **parameters), aggregating=True)
    assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_only_a_table_that_aggregates_has_functions() -> None:
    """A function elsewhere would never run."""
    with pytest.raises(LakewardError, match="only supported for aggregation"):
        check_aggregates(schema("sum", INT()), aggregating=False)


def test_functions_on_key_columns_are_not_looked_at() -> None:
    """Keys do not aggregate, as upstream has it."""
    key = Column("id", STRING(), aggregate=Aggregate("sum"))
    check_aggregates(Schema.of([key], ["id"]), aggregating=True)
