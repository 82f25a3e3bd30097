"""Column types in Spark's JSON form and back, held against pyspark's own classes; no JVM runs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark

from lakeward.errors import InvalidError
from lakeward.model.data_types import MAP, DataType, RowField, TypeRoot
from lakeward.model.schema import Column, Schema
from lakeward.model.type_text import parse_type
from lakeward.spark.table.field_metadata import CHAR_KEY, TYPE_KEY
from lakeward.spark.table.types import data_type_of_spark, schema_of_spark, spark_schema, spark_type

_ROW = spark.StructType([spark.StructField("a", spark.IntegerType(), nullable=False)]).add("b", spark.CharType(2))
PAIRS = [
    ("BOOLEAN", spark.BooleanType()),
    ("TINYINT", spark.ByteType()),
    ("SMALLINT", spark.ShortType()),
    ("INT", spark.IntegerType()),
    ("BIGINT", spark.LongType()),
    ("FLOAT", spark.FloatType()),
    ("DOUBLE", spark.DoubleType()),
    ("STRING", spark.StringType()),
    ("CHAR(5)", spark.CharType(5)),
    ("BYTES", spark.BinaryType()),
    ("DECIMAL(10, 2)", spark.DecimalType(10, 2)),
    ("DECIMAL(38, 38)", spark.DecimalType(38, 38)),
    ("DATE", spark.DateType()),
    ("TIME(0)", spark.TimeType(0)),
    ("TIME(6)", spark.TimeType(6)),
    ("TIMESTAMP(6)", spark.TimestampNTZType()),
    ("TIMESTAMP_LTZ(6)", spark.TimestampType()),
    ("ARRAY<INT>", spark.ArrayType(spark.IntegerType(), containsNull=True)),
    ("ARRAY<INT NOT NULL>", spark.ArrayType(spark.IntegerType(), containsNull=False)),
    ("MAP<STRING, BIGINT>", spark.MapType(spark.StringType(), spark.LongType())),
    ("ROW<a INT NOT NULL, b CHAR(2)>", _ROW),
]


@pytest.mark.parametrize(("text", "theirs"), PAIRS, ids=[text for text, _ in PAIRS])
def test_every_type_is_what_spark_calls_it(text: str, theirs: spark.DataType) -> None:
    """A type's JSON is the one pyspark writes, and comes back as the type it was."""
    ours = parse_type(text)
    assert spark_type(ours, raw_char=True) == theirs.jsonValue()
    back = data_type_of_spark(theirs.jsonValue())
    assert Schema.of([("c", back)]) == Schema.of([("c", ours)])


@pytest.mark.parametrize("root", ["TIMESTAMP", "TIMESTAMP_LTZ"])
@pytest.mark.parametrize("precision", range(10))
def test_timestamps_of_any_precision_keep_it_in_metadata(root: str, precision: int) -> None:
    """Spark knows microseconds only; what the table declared still comes back."""
    schema = Schema.of([("at", parse_type(f"{root}({precision})"))])
    field = spark_schema(schema)["fields"][0]
    assert field["type"] == ("timestamp_ntz" if root == "TIMESTAMP" else "timestamp")
    assert (TYPE_KEY in field["metadata"]) == (precision != 6)
    assert schema_of_spark(spark_schema(schema)) == schema


@pytest.mark.parametrize(("text", "form"), [("BINARY(16)", "binary"), ("TIME(9)", "time(6)"), ("TIME(7)", "time(6)")])
def test_types_spark_has_no_name_for_keep_theirs_in_metadata(text: str, form: str) -> None:
    """BINARY of a length and TIME beyond Spark 4.1's six digits come back as declared."""
    schema = Schema.of([("c", parse_type(text))])
    assert spark_schema(schema)["fields"][0]["type"] == form
    assert schema_of_spark(spark_schema(schema)) == schema


def test_char_is_a_string_with_sparks_metadata_in_data_frames() -> None:
    """DataFrames carry CHAR as string; the length is where Spark looks for it, nested ones included."""
    schema = Schema.of([("c", parse_type("CHAR(5)")), ("m", parse_type("MAP<STRING, ROW<string CHAR(2), d STRING>>"))])
    plain, nested = spark_schema(schema)["fields"]
    assert (plain["type"], plain["metadata"]) == ("string", {CHAR_KEY: "char(5)"})
    assert nested["metadata"] == {CHAR_KEY: "map<string,struct<`string`:char(2),`d`:string>>"}
    assert schema_of_spark(spark_schema(schema)) == schema


def test_varchar_is_taken_as_string() -> None:
    """Tables have no limited text; both of Spark's spellings are read."""
    raw = {"name": "v", "type": "varchar(9)", "nullable": True, "metadata": {}}
    moved = {"name": "v", "type": "string", "nullable": True, "metadata": {CHAR_KEY: "varchar(9)"}}
    for field in (raw, moved):
        assert schema_of_spark({"type": "struct", "fields": [field]}).column("v").type == parse_type("STRING")


def test_metadata_left_behind_by_a_cast_is_not_believed() -> None:
    """Spark's type rules over metadata that speaks of another one."""
    field = {"name": "c", "type": "long", "nullable": True, "metadata": {TYPE_KEY: "TIMESTAMP(3)"}}
    assert schema_of_spark({"type": "struct", "fields": [field]}).column("c").type == parse_type("BIGINT")


def test_comments_and_keys_travel() -> None:
    """Comments of columns and nested fields survive, and the primary key makes its columns NOT NULL."""
    row = DataType(TypeRoot.ROW, fields=(RowField("x", parse_type("TIMESTAMP(3)"), "inner"),))
    schema = Schema.of([Column("id", parse_type("BIGINT"), comment="the key"), Column("r", row)], ["id"])
    text = json.dumps(spark_schema(schema))
    assert schema_of_spark(text, ["id"]) == schema
    assert spark.StructType.fromJson(json.loads(text))["id"].nullable is False


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("void", "only NULLs"),
        ("variant", "to_json"),
        ("interval day to second", "interval day to second"),
        (spark.DayTimeIntervalType().jsonValue(), "interval"),
        ("decimal(5,-2)", "negative"),
        ({"type": "udt", "class": "x", "pyClass": "m.Point", "sqlType": "string"}, "m.Point"),
    ],
)
def test_types_without_a_counterpart_are_refused_by_column(form: object, said: str) -> None:
    """The sentence names the column, the type and what to do."""
    field = {"name": "odd", "type": form, "nullable": True, "metadata": {}}
    with pytest.raises(InvalidError, match=said) as refused:
        schema_of_spark({"type": "struct", "fields": [field]})
    assert "'odd'" in str(refused.value)


def test_a_collation_is_refused() -> None:
    """Tables compare bytes; a collated column would answer other questions than it was declared for."""
    struct = spark.StructType().add("name", spark.StringType("UTF8_LCASE"))
    with pytest.raises(InvalidError, match="collation"):
        schema_of_spark(struct.json())


_LEAVES = st.sampled_from(
    [
        *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "BYTES", "DATE", "CHAR(3)"),
        *("BINARY(4)", "DECIMAL(18, 4)", "TIME(3)", "TIME(8)", "TIMESTAMP(0)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(9)"),
    ]
).map(parse_type)


def _nested(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    part = st.builds(lambda t, null: t if null else t.not_null(), inner, st.booleans())
    rows = st.lists(part, min_size=1, max_size=3).map(
        lambda parts: DataType(TypeRoot.ROW, fields=tuple(RowField(f"f{i}", p) for i, p in enumerate(parts)))
    )
    return rows | part.map(lambda t: DataType(TypeRoot.ARRAY, element=t)) | st.builds(MAP, inner, part)


TYPES = st.recursive(_LEAVES, _nested, max_leaves=6)


@given(types=st.lists(TYPES, min_size=1, max_size=3), raw_char=st.booleans())
def test_any_schema_comes_back_from_spark(types: list[DataType], raw_char: bool) -> None:
    """Through pyspark's own StructType and back, nothing of a schema is lost."""
    schema = Schema.of([(f"c{i}", t) for i, t in enumerate(types)])
    struct = spark.StructType.fromJson(spark_schema(schema, raw_char=raw_char))
    assert schema_of_spark(struct.json()) == schema
