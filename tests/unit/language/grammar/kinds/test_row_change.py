"""UPDATE, DELETE, MERGE INTO and TRUNCATE."""

from __future__ import annotations

import pytest

from lakeward.language.grammar import parse_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.rows import RowChange

MERGE = (
    "MERGE INTO t USING (SELECT * FROM u) AS s ON t.id = s.id WHEN MATCHED AND s.gone THEN DELETE"
    " WHEN MATCHED THEN UPDATE SET t.a = s.a WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a)"
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("UPDATE t SET a = UPPER(b), c = 1 WHERE d = 2", "UPDATE"),
        ("DELETE FROM t WHERE a IN (SELECT b FROM u)", "DELETE"),
        ("DELETE FROM a.b.t", "DELETE"),
        (MERGE, "MERGE"),
        ("TRUNCATE TABLE a.t", "TRUNCATE"),
    ],
)
def test_a_change_of_rows_is_a_tree_that_says_the_same(text: str, kind: str) -> None:
    """Spark does the rest."""
    (statement,) = parse_script(text + ";")
    assert isinstance(statement, RowChange)
    assert (statement.kind, statement.tree.sql("spark")) == (kind, text)


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("DELETE FORM t", Place(1, 8), "expected FROM after DELETE, found 'FORM'. Did you mean FROM?"),
        ("UPDATE t SET", Place(1, 13), "expected SET column = value, found the end of the statement."),
        ("TRUNCATE t", Place(1, 10), "expected TABLE after TRUNCATE, found 't'."),
        ("UPDATE t SET a = 1 WEHRE b = 2", Place(1, 20), "'WEHRE' is not expected here. Did you mean WHERE?"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: Place, sentence: str) -> None:
    """What was found, and what was expected."""
    with pytest.raises(ScriptError) as raised:
        parse_script(text)
    assert (raised.value.place, raised.value.sentence) == (place, sentence)
