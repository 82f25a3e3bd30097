"""Which aggregation functions fit which columns."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Aggregate, Column, Schema

_NUMERIC = frozenset(
    {
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INTEGER,
        TypeRoot.BIGINT,
        TypeRoot.FLOAT,
        TypeRoot.DOUBLE,
        TypeRoot.DECIMAL,
    }
)
_TEXT = frozenset({TypeRoot.CHAR, TypeRoot.STRING})
_ORDERED = _NUMERIC | _TEXT | {TypeRoot.DATE, TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
_BOOLEAN, _BYTES = frozenset({TypeRoot.BOOLEAN}), frozenset({TypeRoot.BYTES})
_TYPES_OF: dict[str, frozenset[TypeRoot]] = {
    **dict.fromkeys(("sum", "product"), _NUMERIC),
    **dict.fromkeys(("max", "min"), _ORDERED),
    **dict.fromkeys(("listagg", "string_agg"), _TEXT),
    **dict.fromkeys(("bool_and", "bool_or"), _BOOLEAN),
    **dict.fromkeys(("rbm32", "rbm64"), _BYTES),
}
_WITH_DELIMITER = frozenset({"listagg", "string_agg"})
_DELIMITER = "delimiter"


def check_aggregates(schema: Schema, *, aggregating: bool) -> None:
    """Refuse functions on a table that does not aggregate, and functions that do not fit their column."""
    for column in schema.columns:
        if column.aggregate is None:
            continue
        if not aggregating:
            raise ErrorCode.INVALID_CONFIG.error(
                "Aggregation function is only supported for aggregation merge engine table, but column"
                f" '{column.name}' has aggregation function '{column.aggregate.function}'."
            )
        if column.name not in schema.primary_key:
            _check_fit(column, column.aggregate)


def _check_fit(column: Column, aggregate: Aggregate) -> None:
    allowed = {_DELIMITER} if aggregate.function in _WITH_DELIMITER else set()
    for name, value in aggregate.parameters:
        if name not in allowed:
            raise _misfit(column, f"'{aggregate.function}' has no parameter '{name}'")
        if not value:
            raise _misfit(column, f"the {name} of '{aggregate.function}' must not be empty")
    types = _TYPES_OF.get(aggregate.function)
    if types is not None and column.type.root not in types:
        taken = ", ".join(sorted(root.value for root in types))
        raise _misfit(column, f"Data type for {aggregate.function} column must be one of {taken}, but is {column.type}")


def _misfit(column: Column, why: str) -> Exception:
    return ErrorCode.INVALID_CONFIG.error(f"Invalid aggregation function for column '{column.name}': {why}.")
