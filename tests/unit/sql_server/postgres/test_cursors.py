"""What DECLARE, FETCH and MOVE say."""

from __future__ import annotations

import pytest

from lakeward.sql_server.postgres.codec.sql_text import statements_of
from lakeward.sql_server.postgres.cursors import Declared, declared_of, wanted_of
from lakeward.sql_server.postgres.states import StateError


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("DECLARE c CURSOR FOR SELECT 1", Declared("c", "SELECT 1", is_held=False, is_binary=False)),
        (
            'DECLARE "My c" BINARY INSENSITIVE NO SCROLL CURSOR WITH HOLD FOR SELECT 2',
            Declared("My c", "SELECT 2", is_held=True, is_binary=True),
        ),
        ("declare c cursor without hold for table t", Declared("c", "table t", is_held=False, is_binary=False)),
    ],
)
def test_cursors_are_declared(sql: str, found: Declared) -> None:
    """With a name, a question, and how long they live."""
    assert declared_of(statements_of(sql)[0]) == found


@pytest.mark.parametrize("sql", ["DECLARE c FOR SELECT 1", "DECLARE c CURSOR", "DECLARE c LOUD CURSOR FOR SELECT 1"])
def test_other_declarations_are_refused(sql: str) -> None:
    """As syntax errors."""
    with pytest.raises(StateError) as caught:
        declared_of(statements_of(sql)[0])
    assert caught.value.state == "42601"


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("FETCH c", 1),
        ("FETCH NEXT FROM c", 1),
        ("FETCH 10 IN c", 10),
        ("FETCH FORWARD 7 FROM c", 7),
        ("FETCH ALL FROM c", 0),
        ("MOVE FORWARD ALL IN c", 0),
    ],
)
def test_rows_are_wanted_forward(sql: str, rows: int) -> None:
    """So many, or all that are left."""
    assert wanted_of(statements_of(sql)[0]) == ("c", rows)


@pytest.mark.parametrize(
    ("sql", "state"), [("FETCH -1 FROM c", "55000"), ("FETCH LAST c", "55000"), ("FETCH 0 c", "42601")]
)
def test_nothing_goes_back(sql: str, state: str) -> None:
    """Rows come once."""
    with pytest.raises(StateError) as caught:
        wanted_of(statements_of(sql)[0])
    assert caught.value.state == state
