"""CREATE TABLE by value."""

from __future__ import annotations

import pytest

from lakeward.language.grammar import parse_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.create_table import (
    ComputedColumn,
    CreateTable,
    Distribution,
    Like,
    MetadataColumn,
    PhysicalColumn,
    Watermark,
)
from lakeward.language.statements.rows import SparkStatement
from lakeward.language.statements.statement import Name
from lakeward.model.data_types import (
    ARRAY,
    BIGINT,
    BYTES,
    DATE,
    DECIMAL,
    DOUBLE,
    INT,
    MAP,
    ROW,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    DataType,
)

FEATURES = "ALL, CONSTRAINTS, DISTRIBUTION, GENERATED, METADATA, OPTIONS, PARTITIONS or WATERMARKS"


def create(text: str) -> CreateTable:
    """The one CREATE TABLE of a script."""
    (statement,) = parse_script(text)
    assert isinstance(statement, CreateTable)
    return statement


def test_a_table_with_everything() -> None:
    """Columns of three kinds, key, watermark, comment, distribution, partitions and options."""
    table = create("""
-- the orders
CREATE TABLE IF NOT EXISTS shop.orders (
  id BIGINT NOT NULL COMMENT 'as printed',
  amount DECIMAL(10,2),
  `day` STRING,
  ts TIMESTAMP(3),
  total AS amount * 2 COMMENT 'twice',
  place BIGINT METADATA FROM 'offset' VIRTUAL,
  `timestamp` TIMESTAMP_LTZ(3) METADATA,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (id, `day`) NOT ENFORCED
) COMMENT 'what was ordered'
DISTRIBUTED BY HASH (id) INTO 8 BUCKETS
PARTITIONED BY (`day`)
WITH ('connector' = 'fluss', 'bucket.num' = '8', -- eight
);""")
    assert table.name == Name(("shop", "orders"))
    assert table.name.place == Place(3, 28)
    assert table.place == Place(3, 1)
    assert table.columns[:4] == (
        PhysicalColumn("id", BIGINT().not_null(), "as printed"),
        PhysicalColumn("amount", DECIMAL(10, 2)),
        PhysicalColumn("day", STRING()),
        PhysicalColumn("ts", TIMESTAMP(3)),
    )
    total = table.columns[4]
    assert isinstance(total, ComputedColumn)
    assert (total.name, total.expression.sql(), total.comment) == ("total", "amount * 2", "twice")
    assert table.columns[5:] == (
        MetadataColumn("place", BIGINT(), "offset", is_virtual=True),
        MetadataColumn("timestamp", TIMESTAMP_LTZ(3), "timestamp"),
    )
    assert table.primary_key == ("id", "day")
    assert isinstance(table.watermark, Watermark)
    assert (table.watermark.column, table.watermark.delay) == ("ts", "5 seconds")
    assert table.watermark.place == Place(11, 17)
    assert table.comment == "what was ordered"
    assert table.distribution == Distribution(("id",), 8)
    assert table.partitioned_by == ("day",)
    assert table.options == {"connector": "fluss", "bucket.num": "8"}
    assert (table.if_not_exists, table.is_temporary, table.or_replace) == (True, False, False)
    assert table.text.startswith("CREATE TABLE IF NOT EXISTS")
    assert table.text.endswith("-- eight\n)")


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("INT", INT()),
        ("integer NOT NULL", INT().not_null()),
        ("BIGINT NULL", BIGINT()),
        ("DOUBLE PRECISION NOT NULL", DOUBLE().not_null()),
        ("VARCHAR(20)", STRING()),
        ("STRING", STRING()),
        ("BYTES", BYTES()),
        ("VARBINARY(3)", BYTES()),
        ("DECIMAL", DECIMAL(10, 0)),
        ("NUMERIC(5)", DECIMAL(5, 0)),
        ("DATE", DATE()),
        ("TIME(3)", TIME(3)),
        ("TIMESTAMP", TIMESTAMP(6)),
        ("TIMESTAMP(3)", TIMESTAMP(3)),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", TIMESTAMP(3)),
        ("TIMESTAMP WITH LOCAL TIME ZONE NOT NULL", TIMESTAMP_LTZ(6).not_null()),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", TIMESTAMP_LTZ(3)),
        ("TIMESTAMP_LTZ(3)", TIMESTAMP_LTZ(3)),
        ("ARRAY<INT NOT NULL>", ARRAY(INT().not_null())),
        ("ARRAY<ARRAY<STRING>>", ARRAY(ARRAY(STRING()))),
        ("MAP<STRING, BIGINT>", MAP(STRING(), BIGINT())),
        ("ROW<a INT, b STRING>", ROW([("a", INT()), ("b", STRING())])),
        ("ROW(a INT)", ROW([("a", INT())])),
        ("ROW<a ROW<`b c` DECIMAL(3, 1)>> NOT NULL", ROW([("a", ROW([("b c", DECIMAL(3, 1))]))]).not_null()),
    ],
)
def test_all_types_of_the_language(text: str, type_: DataType) -> None:
    """The model knows the names; NOT NULL is part of the type."""
    assert create(f"CREATE TABLE t (a {text} COMMENT 'x', b INT)").columns[0] == PhysicalColumn("a", type_, "x")


@pytest.mark.parametrize(
    ("expression", "delay"),
    [
        ("ts", "0 seconds"),
        ("`ts`", "0 seconds"),
        ("ts - INTERVAL '5' SECOND", "5 seconds"),
        ("ts - INTERVAL '0.5' SECONDS", "0.5 seconds"),
        ("ts - INTERVAL 2 MINUTE", "2 minutes"),
        ("ts - INTERVAL '1' HOUR", "1 hours"),
        ("ts - INTERVAL '1:30' HOUR TO MINUTE", "1 hours 30 minutes"),
        ("ts - INTERVAL '2 03:04:05' DAY TO SECOND", "2 days 3 hours 4 minutes 5 seconds"),
        ("ts - INTERVAL '7' DAY(3)", "7 days"),
    ],
)
def test_a_watermark_s_delay_is_spark_s_interval(expression: str, delay: str) -> None:
    """No delay is no seconds."""
    table = create(f"CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS {expression})")
    assert table.watermark is not None
    assert table.watermark.delay == delay


@pytest.mark.parametrize(
    "expression",
    [
        "ts + INTERVAL '5' SECOND",
        "other - INTERVAL '5' SECOND",
        "ts - 5",
        "ts - INTERVAL '1' MONTH",
        "SOURCE_WATERMARK()",
    ],
)
def test_a_watermark_of_another_form_is_refused(expression: str) -> None:
    """What Spark cannot hold is told here."""
    with pytest.raises(ScriptError) as raised:
        create(f"CREATE TABLE t (ts TIMESTAMP(3), other TIMESTAMP(3),\n  WATERMARK FOR ts AS {expression})")
    assert raised.value.place == Place(2, 23)
    assert raised.value.sentence.startswith("expected ts or ts - INTERVAL '5' SECOND: a watermark is the column")


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        ("id INT PRIMARY KEY NOT ENFORCED, b INT", ("id",)),
        ("id INT PRIMARY KEY, b INT", ("id",)),
        ("id INT NOT NULL PRIMARY KEY NOT ENFORCED COMMENT 'k', b INT", ("id",)),
        ("id INT, b INT, PRIMARY KEY (b, id)", ("b", "id")),
        ("id INT, PRIMARY KEY (id) NOT ENFORCED, b INT", ("id",)),
    ],
)
def test_a_primary_key_by_column_or_by_table(columns: str, key: tuple[str, ...]) -> None:
    """NOT ENFORCED may be left out: nobody enforces it."""
    assert create(f"CREATE TABLE t ({columns})").primary_key == key


@pytest.mark.parametrize(
    ("clause", "distribution"),
    [
        ("DISTRIBUTED BY (a, b) INTO 3 BUCKETS", Distribution(("a", "b"), 3)),
        ("DISTRIBUTED BY HASH(a)", Distribution(("a",), None)),
        ("DISTRIBUTED INTO 4 BUCKETS", Distribution((), 4)),
    ],
)
def test_distributions(clause: str, distribution: Distribution) -> None:
    """Columns, buckets, or both."""
    assert create(f"CREATE TABLE t (a INT, b INT) {clause} WITH ()").distribution == distribution


def test_like_with_features() -> None:
    """The other table, and what is taken from it."""
    table = create(
        "CREATE TEMPORARY TABLE t (WATERMARK FOR ts AS ts) WITH ()\nLIKE c.d.e (EXCLUDING ALL INCLUDING OPTIONS)"
    )
    assert table.like == Like(Name(("c", "d", "e")), (("EXCLUDING", "ALL"), ("INCLUDING", "OPTIONS")))
    assert table.is_temporary
    assert create("CREATE TABLE t LIKE u").like == Like(Name(("u",)))


def test_as_select() -> None:
    """The query's places are those of the statement."""
    table = create("CREATE OR REPLACE TABLE t WITH ('bucket.num' = '2') AS\nSELECT a, COUNT(*) AS n FROM u GROUP BY a")
    assert table.query is not None
    assert table.query.sql() == "SELECT a, COUNT(*) AS n FROM u GROUP BY a"
    assert table.or_replace
    assert table.options == {"bucket.num": "2"}


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a INT) USING parquet",
        "CREATE TABLE t USING delta AS SELECT 1",
        "CREATE TABLE t (a INT) TBLPROPERTIES ('a' = 'b')",
        "CREATE TABLE t (a INT) STORED AS ORC",
        "CREATE EXTERNAL TABLE t (a INT) LOCATION '/x'",
    ],
)
def test_spark_s_own_form_is_spark_s(text: str) -> None:
    """As it was written."""
    (statement,) = parse_script(text)
    assert isinstance(statement, SparkStatement)
    assert statement.text == text


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        (
            "CREATE TABLE t (\n  a INT WHIT,\n  b INT)",
            Place(2, 9),
            "expected ')' or ',' after the column's type, found 'WHIT'.",
        ),
        (
            "CREATE TABLE t (\n  a INT,\n  b ARRAY<STRNG>)",
            Place(3, 11),
            "there is no type 'STRNG'. Did you mean STRING?",
        ),
        ("CREATE TABLE t (a TIMESTAMP(12))", Place(1, 29), "expected a number from 0 to 9, found '12'."),
        (
            "CREATE TABLE t (a INT) WHIT ('a' = 'b')",
            Place(1, 24),
            "expected COMMENT, DISTRIBUTED, PARTITIONED, WITH, LIKE or AS, found 'WHIT'. Did you mean WITH?",
        ),
        ("CREATE TABLE t (a INT) WITH ('a' 'b')", Place(1, 34), "expected '=' after 'a', found 'b'."),
        (
            "CREATE TABLE t (a INT) WITH ('a' = b)",
            Place(1, 36),
            "expected the value of 'a' in single quotes, found 'b'.",
        ),
        ("CREATE TABLE t (a INT) WITH (a = 'b')", Place(1, 30), "expected a key in single quotes, found 'a'."),
        ("CREATE TABLE t (a INT) WITH ('a' = '1', 'a' = '2')", Place(1, 41), "the option 'a' is there already."),
        (
            "CREATE TABLE t (a INT) WITH ('a' = '1' 'b' = '2')",
            Place(1, 40),
            "expected ')' or ',' after the value of 'a', found 'b'.",
        ),
        ("CREATE TABLE t (a INT, a INT)", Place(1, 24), "the column 'a' is there already."),
        (
            "CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED)",
            Place(1, 24),
            "the primary key names 'b', which is no column of the table.",
        ),
        (
            "CREATE TABLE t (a INT PRIMARY KEY, PRIMARY KEY (a))",
            Place(1, 36),
            "the primary key is declared already.",
        ),
        (
            "CREATE TABLE t (a INT, PRIMARY KEY (a) NOT ENFROCED)",
            Place(1, 44),
            "expected 'ENFORCED' after PRIMARY KEY … NOT, found 'ENFROCED'. Did you mean ENFORCED?",
        ),
        (
            "CREATE TABLE t (a INT PRIMARY KEY ENFORCED)",
            Place(1, 35),
            "a primary key is not checked when rows come; expected NOT ENFORCED.",
        ),
        (
            "CREATE TABLE t (a INT, WATERMARK FOR b AS b)",
            Place(1, 38),
            "the watermark is for 'b', which is no column of the table.",
        ),
        (
            "CREATE TABLE t (a INT NOT NUL)",
            Place(1, 27),
            "expected 'NULL' after the column's type, found 'NUL'. Did you mean NULL?",
        ),
        ("CREATE TABLE t (a INT, WATERMARK a AS a)", Place(1, 34), "expected 'FOR', found 'a'."),
        (
            "CREATE TABLE t (a INT, WATERMARK FRO a AS a)",
            Place(1, 34),
            "expected 'FOR', found 'FRO'.",
        ),
        ("CREATE TABLE t (a INT, )", Place(1, 24), "expected a column's name, found ')'."),
        (
            "CREATE TABLE t",
            Place(1, 15),
            "expected the columns of t in brackets, LIKE or AS, found the end of the statement.",
        ),
        ("CREATE TABLE a.b.c.d (x INT)", Place(1, 14), "'a.b.c.d' has 4 parts; expected [catalog.][database.]name."),
        ("CREATE TABLE t (a AS b +)", Place(1, 25), "expected an expression after '+', found ')'."),
        (
            "CREATE TABLE t (a INT) DISTRIBUTED INTO 0 BUCKETS",
            Place(1, 41),
            "expected a number of buckets from 1, found '0'.",
        ),
        ("CREATE TABLE t (a INT) COMMENT 'x' COMMENT 'y'", Place(1, 36), "COMMENT is there already."),
        (
            "CREATE TABLE t LIKE u (INCLUDING EVERYTHING)",
            Place(1, 34),
            f"expected {FEATURES} after INCLUDING, found 'EVERYTHING'.",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: Place, sentence: str) -> None:
    """What was found, what was expected, and the word that was probably meant."""
    with pytest.raises(ScriptError) as raised:
        parse_script(text)
    assert (raised.value.place, raised.value.sentence) == (place, sentence)


def test_a_column_may_be_called_watermark() -> None:
    """A word is only a keyword where it stands as one."""
    table = create(
        "CREATE TABLE t (watermark BIGINT, `primary` INT, metadata STRING METADATA, comment STRING COMMENT 'c')"
    )
    assert [column.name for column in table.columns] == ["watermark", "primary", "metadata", "comment"]


def test_a_multiset_is_refused() -> None:
    """No table of a cluster can hold one."""
    with pytest.raises(ScriptError, match=r"Line 1, column 19: there is no type 'MULTISET'; the types are ARRAY, "):
        parse_script("CREATE TABLE t (a MULTISET<INT>)")
