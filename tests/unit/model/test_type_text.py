"""Types and column lists as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import InvalidError
from lakeward.model import data_types as t
from lakeward.model.schema import Column
from lakeward.model.type_text import parse_columns, parse_type

_plain = st.sampled_from(
    [t.BOOLEAN(), t.TINYINT(), t.INT(), t.BIGINT(), t.DOUBLE(), t.STRING(), t.BYTES(), t.DATE(), t.CHAR(9),
     t.BINARY(3), t.DECIMAL(38, 18), t.TIME(3), t.TIMESTAMP(9), t.TIMESTAMP_LTZ(0)]
)  # fmt: skip
_nullable = st.recursive(
    _plain,
    lambda inner: st.one_of(
        inner.map(t.ARRAY),
        st.tuples(inner, inner).map(lambda kv: t.MAP(*kv)),
        st.lists(inner, min_size=1, max_size=3).map(lambda ts: t.ROW([(f"f{i}", x) for i, x in enumerate(ts)])),
    ).flatmap(lambda x: st.sampled_from([x, x.not_null()])),
    max_leaves=6,
)


@given(_nullable)
def test_text_of_a_type_is_read_back(type_) -> None:
    """str and parse_type are inverse."""
    assert parse_type(str(type_)) == type_


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("int", t.INT()),
        ("INTEGER NOT NULL", t.INT().not_null()),
        ("bool NULL", t.BOOLEAN()),
        ("LONG", t.BIGINT()),
        ("text", t.STRING()),
        ("VARCHAR(255)", t.STRING()),
        ("varchar", t.STRING()),
        ("VARBINARY(10)", t.BYTES()),
        ("CHAR", t.CHAR(1)),
        ("DECIMAL", t.DECIMAL(10, 0)),
        ("NUMERIC(5)", t.DECIMAL(5, 0)),
        ("decimal(10,2)", t.DECIMAL(10, 2)),
        ("TIME", t.TIME(0)),
        ("TIMESTAMP", t.TIMESTAMP(6)),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", t.TIMESTAMP(3)),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL", t.TIMESTAMP_LTZ(3).not_null()),
        ("TIMESTAMP_LTZ", t.TIMESTAMP_LTZ(6)),
        ("ARRAY<ARRAY<INT>>", t.ARRAY(t.ARRAY(t.INT()))),
        ("MAP<STRING, INT NOT NULL>", t.MAP(t.STRING(), t.INT().not_null())),
        ("STRUCT<a: INT, b: STRING>", t.ROW([("a", t.INT()), ("b", t.STRING())])),
        ("ROW(a INT)", t.ROW([("a", t.INT())])),
    ],
)
def test_spellings(text: str, type_) -> None:
    """The common spellings of SQL are understood."""
    assert parse_type(text) == type_


def test_comments_of_fields_are_kept() -> None:
    """A field of a ROW may have a comment."""
    (field,) = parse_type("ROW<a INT COMMENT 'it''s a'>").fields
    assert (field.name, field.description) == ("a", "it's a")


@pytest.mark.parametrize(
    ("text", "why", "mark"),
    [
        ("INTT", "no type 'INTT'", 0),
        ("DECIMAL(39, 2)", "from 1 to 38", 8),
        ("DECIMAL(5, 6)", "from 0 to 5", 11),
        ("TIMESTAMP(10)", "from 0 to 9", 10),
        ("CHAR(99999999999999999999999)", "from 1 to", 5),
        ("ARRAY<INT", "expected >, found the end", 9),
        ("MAP<INT>", "expected ,", 7),
        ("INT INT", "not expected here", 4),
        ("INT ; DROP", "';' is not expected", 4),
        ("ROW<a INT, a INT>", "there already", 13),
        ("", "expected a type, found the end", 0),
    ],
)
def test_refusals_show_the_place(text: str, why: str, mark: int) -> None:
    """The message has the text and a mark under what is wrong."""
    with pytest.raises(InvalidError, match=why) as refused:
        parse_type(text)
    assert refused.value.message.splitlines()[-1] == "  " + " " * mark + "^"


def test_endless_nesting_is_refused() -> None:
    """Depth is bounded before Python's stack is."""
    with pytest.raises(InvalidError, match="nested deeper"):
        parse_type("ARRAY<" * 5000)


def test_columns_with_a_primary_key() -> None:
    """The example of the documentation."""
    columns, key = parse_columns("id INT NOT NULL, name STRING COMMENT 'x', PRIMARY KEY (id) NOT ENFORCED")
    assert columns == [Column("id", t.INT().not_null()), Column("name", t.STRING(), comment="x")]
    assert key == ("id",)


@pytest.mark.parametrize(
    ("text", "names", "key"),
    [
        ("id INT PRIMARY KEY NOT ENFORCED, v INT", ["id", "v"], ("id",)),
        ("a INT, b INT, CONSTRAINT pk PRIMARY KEY (b, a)", ["a", "b"], ("b", "a")),
        ('`order id` INT, "x""y" INT', ["order id", 'x"y'], ()),
        ("\n  été DOUBLE ,\n primary INT\n", ["été", "primary"], ()),
        ("k INT PRIMARY KEY NOT NULL 'a key'", ["k"], ("k",)),
    ],
)
def test_column_lists(text, names, key) -> None:
    """Quoted names, keys in both places, lines broken at will."""
    columns, found = parse_columns(text)
    assert [c.name for c in columns] == names
    assert found == key


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a INT,", "expected a name, found the end"),
        ("a INT b INT", "'b' is not expected here"),
        ("a", "expected a type"),
        ("a INT PRIMARY KEY, b INT PRIMARY KEY", "declared already"),
        ("a INT, PRIMARY KEY (a), PRIMARY KEY (a)", "declared already"),
        ("a INT COMMENT x", "single quotes"),
        ("a INT, PRIMARY KEY ()", "expected a name"),
        ("5 INT", "expected a name"),
    ],
)
def test_column_lists_that_are_wrong(text, why) -> None:
    """Each refusal says what was expected."""
    with pytest.raises(InvalidError, match=why):
        parse_columns(text)


@given(st.text(max_size=60))
def test_any_text_is_columns_or_refused(text: str) -> None:
    """Nothing a person types raises another error."""
    try:
        parse_columns(text)
    except InvalidError:
        return
