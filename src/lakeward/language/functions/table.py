"""FUNCTIONS: all rows, and the questions that a planner asks about a name."""

from __future__ import annotations

from typing import Final

from lakeward.language.functions.rows.aggregates import AGGREGATES, SPARK_AGGREGATES
from lakeward.language.functions.rows.arithmetic import ARITHMETIC
from lakeward.language.functions.rows.casts import CASTS
from lakeward.language.functions.rows.conditions import CONDITIONS
from lakeward.language.functions.rows.json import JSON
from lakeward.language.functions.rows.lists import LISTS
from lakeward.language.functions.rows.temporal import TEMPORAL
from lakeward.language.functions.rows.text import TEXT
from lakeward.language.functions.shape.function import Function, Kind

#: Rows by what they are about, as the page shows them.
SECTIONS: Final[dict[str, tuple[Function, ...]]] = {
    "Casts and literals": CASTS,
    "Numbers": ARITHMETIC,
    "Texts": TEXT,
    "Times and dates": TEMPORAL,
    "Choices and questions": CONDITIONS,
    "Arrays, maps and rows": LISTS,
    "JSON": JSON,
    "Many rows": AGGREGATES,
}
#: All rows by name.
FUNCTIONS: Final[dict[str, Function]] = {row.name: row for rows in SECTIONS.values() for row in rows}
#: GROUP BY TUMBLE(…) and what tells its window; a planner rewrites them before functions are translated.
WINDOW_FUNCTIONS: Final = frozenset(
    name + part for name in ("TUMBLE", "HOP", "SESSION") for part in ("", "_START", "_END", "_ROWTIME", "_PROCTIME")
)
_SPARK_RANDOM: Final = frozenset(
    {"RANDN", "RANDOM", "RANDSTR", "SHUFFLE", "UNIFORM", "MONOTONICALLY_INCREASING_ID", "SPARK_PARTITION_ID", "CURDATE"}
)


def is_aggregate(name: str) -> bool:
    """Whether the function makes one value of many rows."""
    row = FUNCTIONS.get(name.upper())
    return row.kind is Kind.AGGREGATE if row is not None else name.upper() in SPARK_AGGREGATES


def is_window_function(name: str) -> bool:
    """Whether it is a window of GROUP BY, or tells where such a window starts or ends."""
    return name.upper() in WINDOW_FUNCTIONS


def is_deterministic(name: str) -> bool:
    """Whether the same arguments give the same value, whenever it is asked."""
    row = FUNCTIONS.get(name.upper())
    return row.is_deterministic if row is not None else name.upper() not in _SPARK_RANDOM
