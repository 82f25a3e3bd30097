"""The catalog `fluss` in SQL: databases, tables, partitions and their properties."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import SparkSession

import lakeward as lw
from lakeward.model.data_types import TypeRoot


def test_a_table_is_created_with_keys_buckets_partitions_and_comments(
    spark: SparkSession, conn: lw.Connection, database: str
) -> None:
    """What CREATE TABLE says arrives at the server; properties of Fluss and of the user are kept apart."""
    spark.sql(f"""
        CREATE TABLE fluss.{database}.orders (id BIGINT NOT NULL, dt STRING NOT NULL, item STRING COMMENT 'what')
        PARTITIONED BY (dt) COMMENT 'all orders'
        TBLPROPERTIES ('primary.key' = 'id, dt', 'bucket.num' = '3', 'table.log.ttl' = '2d', 'owner.team' = 'shop')
    """)
    descriptor = conn.table(f"{database}.orders").info.descriptor
    assert descriptor.schema.primary_key == ("id", "dt")
    assert (descriptor.partition_keys, descriptor.bucket_keys, descriptor.bucket_count) == (("dt",), ("id",), 3)
    assert descriptor.properties["table.log.ttl"] == "2d"
    assert descriptor.custom_properties["owner.team"] == "shop"
    assert descriptor.comment == "all orders"
    assert descriptor.schema.column("item").comment == "what"


def test_databases_come_and_go(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """CREATE, SHOW, DESCRIBE and DROP DATABASE; one with tables goes only with CASCADE."""
    name = f"{database}_more"
    spark.sql(f"CREATE DATABASE fluss.{name} COMMENT 'more'")
    assert name in {row.namespace for row in spark.sql("SHOW DATABASES IN fluss").collect()}
    described = {row.info_name: row.info_value for row in spark.sql(f"DESCRIBE DATABASE fluss.{name}").collect()}
    assert described["Comment"] == "more"
    spark.sql(f"CREATE TABLE fluss.{name}.t (a INT)")
    with pytest.raises(AnalysisException, match="SCHEMA_NOT_EMPTY"):
        spark.sql(f"DROP DATABASE fluss.{name}")
    spark.sql(f"DROP DATABASE fluss.{name} CASCADE")
    assert name not in conn.databases()


def test_tables_are_listed_described_and_dropped(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """SHOW TABLES, DESCRIBE and DROP TABLE see what other clients made."""
    conn.create_table(f"{database}.made", "a INT, b STRING", buckets=2)
    assert [row.tableName for row in spark.sql(f"SHOW TABLES IN fluss.{database}").collect()] == ["made"]
    described = {row.col_name: row.data_type for row in spark.sql(f"DESCRIBE fluss.{database}.made").collect()}
    assert described == {"a": "int", "b": "string"}
    spark.sql(f"DROP TABLE fluss.{database}.made")
    spark.sql(f"DROP TABLE IF EXISTS fluss.{database}.made")
    assert conn.tables(database) == []


def test_a_table_can_be_made_again_from_what_spark_shows(
    spark: SparkSession, conn: lw.Connection, database: str
) -> None:
    """SHOW CREATE TABLE gives a statement that makes the same table."""
    texts = "name STRING COMMENT 'his', code CHAR(3), tags ARRAY<STRING>, more MAP<STRING, STRUCT<s: STRING>>"
    columns = f"id BIGINT NOT NULL, {texts}, amount DECIMAL(10, 2)"
    spark.sql(f"CREATE TABLE fluss.{database}.a ({columns}) TBLPROPERTIES ('primary.key'='id', 'bucket.num'='2')")
    statement = spark.sql(f"SHOW CREATE TABLE fluss.{database}.a").collect()[0][0]
    spark.sql(statement.replace(f"{database}.a", f"{database}.b"))
    first, second = (conn.table(f"{database}.{name}").info.descriptor for name in "ab")
    assert first == second
    assert first.schema.column("code").type.root is TypeRoot.CHAR


def test_a_table_gets_columns_and_properties(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """ALTER TABLE adds columns at the end, and sets and unsets properties."""
    table = f"fluss.{database}.t"
    spark.sql(f"CREATE TABLE {table} (a INT) TBLPROPERTIES ('x' = '1')")
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (b STRING COMMENT 'new', c DOUBLE)")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('y' = '2')")
    spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('x')")
    descriptor = conn.table(f"{database}.t").info.descriptor
    assert descriptor.schema.names == ("a", "b", "c")
    assert descriptor.schema.column("b").comment == "new"
    assert "x" not in descriptor.custom_properties
    assert descriptor.custom_properties["y"] == "2"


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("CREATE TABLE {t}2 (a INT CHECK (a > 0))", "PRIMARY KEY and no other constraint"),
        ("CREATE TABLE {t}2 (a INT, b INT, PRIMARY KEY (a)) TBLPROPERTIES ('primary.key' = 'b')", "two primary keys"),
        ("ALTER TABLE {t} DROP COLUMN a", "can get new columns and properties"),
        ("ALTER TABLE {t} ADD COLUMN z INT FIRST", "only be added at the end"),
        ("ALTER TABLE {t} SET TBLPROPERTIES ('bucket.num' = '9')", "cannot be changed"),
        ("CREATE TABLE {t}2 (a INT) USING parquet", "USING parquet"),
        ("CREATE TABLE {t}2 (a INT) PARTITIONED BY (bucket(4, a))", "by columns only"),
        ("CREATE TABLE {t}2 (a INT) TBLPROPERTIES ('bucket.num' = 'many')", "whole number"),
        ("CREATE TABLE {t}2 (a INTERVAL DAY)", "Column 'a'"),
        ("DROP TABLE {t}$changelog", "is a view of table"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    spark: SparkSession, conn: lw.Connection, database: str, statement: str, sentence: str
) -> None:
    """A refusal names what was refused, and nothing else is printed."""
    conn.create_table(f"{database}.t", "a INT, b INT")
    with pytest.raises(IllegalArgumentException, match=sentence) as refused:
        spark.sql(statement.format(t=f"fluss.{database}.t"))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("primary-key", "primary.key"),
        ("primary_key", "primary.key"),
        ("primaryKey", "primary.key"),
        ("buckets", "bucket.num"),
        ("bucket-num", "bucket.num"),
        ("bucket_key", "bucket.key"),
        ("datalake.enabled", "table.datalake.enabled"),
        ("log.ttl", "table.log.ttl"),
    ],
)
def test_a_property_that_is_nearly_ours_is_refused(spark: SparkSession, database: str, given: str, meant: str) -> None:
    """A primary key by a wrong name would make a log table, and nobody would notice."""
    with pytest.raises(IllegalArgumentException, match=f"'{given}'.* did you mean '{meant}'"):
        spark.sql(f"CREATE TABLE fluss.{database}.t (a INT NOT NULL) TBLPROPERTIES ('{given}' = 'a')")


def test_a_primary_key_is_a_constraint(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """PRIMARY KEY beside a column or after all of them, instead of the property."""
    spark.sql(f"CREATE TABLE fluss.{database}.one (id INT PRIMARY KEY, name STRING COMMENT 'whose')")
    spark.sql(f"CREATE TABLE fluss.{database}.two (a INT, b STRING, c INT, CONSTRAINT both PRIMARY KEY (b, a))")
    assert conn.table(f"{database}.one").info.schema.primary_key == ("id",)
    assert conn.table(f"{database}.one").info.schema.column("name").comment == "whose"
    assert conn.table(f"{database}.two").info.schema.primary_key == ("b", "a")


def test_a_table_is_renamed_by_a_copy(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """Rows, key, buckets and properties come along, with and without partitions; the catalog's name may be written."""
    conn.create_table(
        f"{database}.users", "id INT, dt STRING, name STRING", primary_key=["id", "dt"], partition_by=["dt"], buckets=2
    ).upsert({"id": [1, 2], "dt": ["x", "y"], "name": ["a", "b"]})
    old = conn.table(f"{database}.users").info.descriptor
    spark.sql(f"ALTER TABLE fluss.{database}.users RENAME TO fluss.{database}.people")
    assert conn.tables(database) == ["people"]
    assert conn.table(f"{database}.people").info.descriptor == old
    assert sorted(map(tuple, spark.table(f"fluss.{database}.people").collect())) == [(1, "x", "a"), (2, "y", "b")]
    conn.create_table(f"{database}.other", "a INT")
    with pytest.raises(AnalysisException, match="already exists"):
        spark.sql(f"ALTER TABLE fluss.{database}.people RENAME TO {database}.other")
    assert conn.table(f"{database}.people").count() == 2


def test_partitions_are_shown_added_and_dropped(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """SHOW PARTITIONS, ADD, DROP and TRUNCATE PARTITION, also of typed partition columns."""
    table = f"fluss.{database}.p"
    spark.sql(f"CREATE TABLE {table} (a INT, day DATE, n INT) PARTITIONED BY (day, n)")
    spark.sql(f"ALTER TABLE {table} ADD PARTITION (day = DATE'2026-11-01', n = 1)")
    spark.sql(f"ALTER TABLE {table} ADD PARTITION (day = '2026-11-02', n = 2)")
    shown = {row.partition for row in spark.sql(f"SHOW PARTITIONS {table}").collect()}
    assert shown == {"day=2026-11-01/n=1", "day=2026-11-02/n=2"}
    part = spark.sql(f"SHOW PARTITIONS {table} PARTITION (n = 2)").collect()
    assert [row.partition for row in part] == ["day=2026-11-02/n=2"]
    spark.sql(f"INSERT INTO {table} VALUES (1, DATE'2026-11-01', 1)")
    spark.sql(f"TRUNCATE TABLE {table} PARTITION (day = '2026-11-01', n = 1)")
    assert spark.table(table).count() == 0
    spark.sql(f"ALTER TABLE {table} DROP PARTITION (day = '2026-11-02', n = 2)")
    assert [p.name for p in conn.table(f"{database}.p").partitions()] == ["2026-11-01$1"]
    with pytest.raises(AnalysisException, match="PARTITIONS_ALREADY_EXIST"):
        spark.sql(f"ALTER TABLE {table} ADD PARTITION (day = '2026-11-01', n = 1)")


def test_views_need_no_backticks(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """`t$changelog` is a name in SQL, but stays as it is in strings, comments and quoted names."""
    conn.create_table(f"{database}.t", "a INT").append({"a": [1]})
    sql = f"""
        SELECT x._change_type, 'b$changelog' AS text, "c$binlog" AS more /* d$changelog */ -- e$changelog
        FROM fluss.{database}.t$changelog x
        UNION ALL SELECT _change_type, 'f''g$changelog', '' FROM fluss.{database}.`t$changelog`
    """
    texts = {row.text for row in spark.sql(sql).collect()}
    assert texts in ({"b$changelog", "f'g$changelog"}, {"b$changelog", "fg$changelog"})


def test_a_missing_table_is_sparks_own_error(spark: SparkSession, database: str) -> None:
    """Tables and databases that are not there are what Spark calls them, so IF EXISTS and try/except work."""
    for name in (f"fluss.{database}.nope", "fluss.nope_database.nope"):
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
            spark.table(name)
    assert not spark.catalog.tableExists(f"fluss.{database}.nope")
