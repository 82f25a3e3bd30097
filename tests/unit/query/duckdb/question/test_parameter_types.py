"""Types of parameters, by where they stand in a statement."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from lakeward.query.duckdb.question.parameter_types import find_parameters
from lakeward.sql_server.postgres.codec.sql_text import statements_of


@pytest.fixture
def duck() -> duckdb.DuckDBPyConnection:
    """One table."""
    made = duckdb.connect()
    made.execute('CREATE TABLE t (id BIGINT, price DECIMAL(10, 2), "at" TIMESTAMP, tags VARCHAR[], item VARCHAR)')
    return made


@pytest.mark.parametrize(
    ("sql", "types"),
    [
        (
            'SELECT 1 FROM t WHERE id = $1 AND price > $2 AND "at" < $3',
            [pa.int64(), pa.decimal128(10, 2), pa.timestamp("us")],
        ),
        ("SELECT id FROM t WHERE item LIKE $1 LIMIT $2 OFFSET $3", [pa.string(), pa.int64(), pa.int64()]),
        ("SELECT $1", [pa.string()]),
        ("SELECT $1::INT + id FROM t WHERE id IN ($2, $2)", [pa.int32(), pa.int64()]),
        ("SELECT 1 FROM t WHERE id = $1 OR $1 IS NULL", [pa.int64()]),
        ("SELECT round($1, 2)", [pa.string()]),
        ("SELECT price * $1 FROM t WHERE id = $2 AND item = $3", [pa.string(), pa.int64(), pa.string()]),
        ("SELECT 1", []),
    ],
)
def test_types_are_found(duck: duckdb.DuckDBPyConnection, sql: str, types: list[pa.DataType]) -> None:
    """A text where nothing says what it is."""
    template = statements_of(sql)[0]
    found = find_parameters(duck, template, [None] * template.parameters)
    assert found.schema.types == types
    duck.execute(template.with_values(found.nulls))


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT $1", "'x'"),
        ("SELECT $1 || 'x'", "'x'"),
        ("SELECT price * $1::DECIMAL(10, 2) FROM t", "5"),
        ("SELECT $1::DECIMAL(10, 2) * 2", "5"),
        ("SELECT list_filter(tags, x -> x = $1) FROM t", "'x'"),
        ("SELECT string_agg(item, $1) FROM t", "','"),
        ("SELECT item FROM t LIMIT $1", "2"),
    ],
)
def test_columns_are_described_as_they_will_be(duck: duckdb.DuckDBPyConnection, sql: str, value: str) -> None:
    """Before there is a value, with the types that they have with one."""
    template = statements_of(sql)[0]
    described = find_parameters(duck, template, [None]).columns_of(duck, template)
    answered = duck.execute(template.with_values([value])).to_arrow_reader(1).schema
    assert described.types == answered.types


def test_what_a_client_says_holds(duck: duckdb.DuckDBPyConnection) -> None:
    """Whatever the place would say."""
    found = find_parameters(duck, statements_of("SELECT 1 FROM t WHERE id = $1 AND id = $2")[0], ["INTEGER", None])
    assert found.schema.types == [pa.int32(), pa.int64()]
    assert found.nulls[0] == "CAST(NULL AS INTEGER)"
