"""The table of functions: its questions, and that each row is tested."""

from __future__ import annotations

import re

import pytest
from script_function_cases import CASES, ROWS_CASES

from lakeward.language.functions import FUNCTIONS, is_aggregate, is_deterministic, is_window_function


@pytest.mark.parametrize("name", ["COUNT", "sum", "LISTAGG", "FIRST_VALUE", "collect_set", "JSON_ARRAYAGG", "max_by"])
def test_functions_of_many_rows_are_aggregates(name: str) -> None:
    """Spark's own, too."""
    assert is_aggregate(name)


@pytest.mark.parametrize("name", ["UPPER", "ROW_NUMBER", "TUMBLE", "explode"])
def test_others_are_not(name: str) -> None:
    """Neither scalars nor ranks nor windows."""
    assert not is_aggregate(name)


def test_windows_of_group_by_are_known() -> None:
    """With what tells where they start and end."""
    names = ["TUMBLE", "hop_start", "SESSION_END", "TUMBLE_ROWTIME", "HOP_PROCTIME", "CUMULATE", "COUNT"]
    assert [name for name in names if is_window_function(name)] == names[:5]


@pytest.mark.parametrize("name", ["RAND", "uuid", "CURRENT_TIMESTAMP", "NOW", "PROCTIME", "RAND_INTEGER", "randn"])
def test_what_changes_by_itself_is_not_deterministic(name: str) -> None:
    """The clock and chance."""
    assert not is_deterministic(name)
    assert is_deterministic("UPPER")


def test_every_row_has_a_known_answer() -> None:
    """A row that no test asks may be wrong."""
    texts = [text for cases in CASES.values() for text, _ in cases] + [text for text, _ in ROWS_CASES]
    asked = {word for text in texts for word in re.findall(r"[A-Z_0-9]+(?=\()", text)}
    rows = {name for name, row in FUNCTIONS.items() if re.fullmatch("[A-Z_0-9]+", name) and not row.refusal}
    assert rows - asked - _ASKED_OTHERWISE == set()


#: Syntax, other names of what is asked, the clock, and ranks that Spark does alone.
_ASKED_OTHERWISE = {"INTERVAL", "ARRAY", "MAP", "CURRENT_TIMESTAMP", "CURRENT_DATE", "LOCALTIMESTAMP"}
_ASKED_OTHERWISE |= {"CURRENT_TIME", "LOCALTIME", "DATE_DIFF", "DATE_ADD", "DATEADD"}
_ASKED_OTHERWISE |= {"SINH", "COSH", "TANH", "COT", "ASIN", "ACOS", "ATAN", "UNHEX", "MAP_ENTRIES"}
_ASKED_OTHERWISE |= {"RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD"}
_ASKED_OTHERWISE |= {"ANY_VALUE", "STDDEV_SAMP", "VAR_SAMP", "VARIANCE", "APPROX_COUNT_DISTINCT", "PERCENTILE"}
