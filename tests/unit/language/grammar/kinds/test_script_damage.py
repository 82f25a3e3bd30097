"""Scripts that are damaged anywhere fail with a sentence and a place, and in no other way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward.language.grammar import parse_script
from lakeward.language.place import ScriptError

_SCRIPT = """CREATE TABLE t ( a BIGINT NOT NULL COMMENT 'x' , ts TIMESTAMP ( 3 ) , b AS UPPER ( a ) ,
m STRING METADATA FROM 'k' , WATERMARK FOR ts AS ts - INTERVAL '5' SECOND , PRIMARY KEY ( a ) NOT ENFORCED )
PARTITIONED BY ( a ) WITH ( 'k' = 'v' )

INSERT INTO t /*+OPTIONS('a'='b')*/ PARTITION ( d = '1' ) ( a , b ) SELECT a , COUNT ( DISTINCT b ) FROM u GROUP BY a

SELECT o . a , CASE WHEN o . b > 1 THEN 'x' ELSE 'y' END FROM o LEFT JOIN u FOR SYSTEM_TIME AS OF o . ts AS u
ON o . a = u . a WHERE o . c IN ( SELECT 1 ) ORDER BY a LIMIT 3

SELECT * FROM TABLE ( HOP ( TABLE t , DESCRIPTOR ( ts ) , INTERVAL '1' MINUTE , INTERVAL '5' MINUTE ) ) AS w

EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 ; INSERT INTO b VALUES ( 1 , 'x' ) ; END

WITH a AS ( SELECT CAST ( x AS ROW < a INT > ) FROM t ) SELECT SUM ( b ) OVER ( PARTITION BY c ) FROM a UNION SELECT 1

MERGE INTO t USING u ON t . a = u . a WHEN MATCHED THEN UPDATE SET b = 1
WHEN NOT MATCHED THEN INSERT ( a ) VALUES ( 2 )

ALTER TABLE t ADD ( a INT , b ARRAY < STRING > )

CREATE TEMPORARY VIEW v ( a ) AS SELECT TRIM ( BOTH 'x' FROM a ) FROM t"""
_WHOLE = _SCRIPT.split("\n\n")
_WORDS = sorted(
    {word for text in _WHOLE for word in text.split()} | {"''", "`x`", "::", ":", "|>", "->", "?", "{", "'"}
)
_EDIT = st.tuples(st.integers(0, 60), st.sampled_from(["drop", "add", "swap"]), st.sampled_from(_WORDS))


def refusal(script: str) -> ScriptError | None:
    """What is wrong with a script."""
    try:
        parse_script(script)
    except ScriptError as error:
        return error
    return None


@given(st.sampled_from(_WHOLE), st.lists(_EDIT, max_size=4))
def test_a_damaged_script_is_refused_with_a_place_in_it(text: str, edits: list[tuple[int, str, str]]) -> None:
    """Whatever words are dropped, added or changed; the message is one line, in our words."""
    words = text.split()
    for at, edit, word in edits:
        here = at % max(1, len(words))
        words[here : here + (edit != "add")] = [] if edit == "drop" else [word]
    error = refusal("\n".join(words))
    if error is not None:
        assert 1 <= error.place.line <= len(words)
        assert not {"\n", "Token", "sqlglot", "\x1b"} & set(error.sentence.split(" "))


def test_whole_ones_are_not_refused() -> None:
    """Or the damage above would be none."""
    assert [refusal(text) for text in _WHOLE] == [None] * len(_WHOLE)
