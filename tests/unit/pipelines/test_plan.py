"""Where each table goes, with which columns and keys."""

from __future__ import annotations

import pytest

from lakeward.capture.port import SourceTable, TableId
from lakeward.errors import LakewardError
from lakeward.model.data_types import BIGINT, INT, STRING
from lakeward.model.schema import Column, Schema
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.plan import is_computed, plan_tables
from lakeward.pipelines.reading import read_pipelines


def _definition(more: str = "") -> PipelineDefinition:
    text = "source: {type: mysql, hostname: h, username: u, tables: 'shop.\\.*'}\nsink: {type: print}\n" + more
    return read_pipelines([("p", text)], {})[0]


def _table(name: str, *more: Column, key: tuple[str, ...] = ("id",), has_before: bool = True) -> SourceTable:
    columns = [Column("id", BIGINT()), Column("name", STRING().not_null(), comment="who"), *more]
    return SourceTable(TableId("shop", name), Schema.of(columns, key), has_before=has_before)


def test_columns_but_the_key_may_be_null_and_keep_their_comments() -> None:
    """What the source allows may change."""
    [plan] = plan_tables(_definition(), [_table("users")])
    assert plan.target == "shop.users"
    assert [str(column.type) for column in plan.schema.columns] == ["BIGINT NOT NULL", "STRING"]
    assert plan.schema.column("name").comment == "who"
    assert plan.is_keyed


def test_names_that_a_cluster_cannot_take_are_told_before_anything_is_made() -> None:
    """All of them, with the way out; other sinks take what they like."""
    text = "source: {type: mysql, hostname: h, username: u, tables: 'shop.\\.*'}\nsink: {type: fluss}\n"
    [definition] = read_pipelines([("p", text)], {})
    with pytest.raises(LakewardError) as wrong:
        plan_tables(definition, [_table("Odd Names"), _table("fine"), _table("__own")])
    first, second = str(wrong.value).splitlines()
    assert "shop.Odd Names cannot go to shop.Odd Names, which is no name of a table of Fluss: 'Odd Names'" in first
    assert first.endswith("Give it another name by a 'route', or leave it out by 'tables.exclude'.")
    assert "shop.__own cannot go to shop.__own" in second
    assert plan_tables(_definition(), [_table("Odd Names")])[0].target == "shop.Odd Names"


def test_tables_that_go_to_one_have_all_columns() -> None:
    """Shards of one table are one table again."""
    route = "route: [{source-table: 'shop.u\\.*', sink-table: ods.users}]\n"
    plans = plan_tables(_definition(route), [_table("u1"), _table("u2", Column("age", INT()))])
    assert {plan.target for plan in plans} == {"ods.users"}
    assert [plan.schema.names for plan in plans] == [("id", "name", "age")] * 2


def test_tables_that_cannot_go_to_one_are_all_named() -> None:
    """Different keys, different types."""
    route = "route: [{source-table: 'shop.\\.*', sink-table: ods.all}]\n"
    with pytest.raises(LakewardError) as wrong:
        plan_tables(
            _definition(route),
            [_table("a", Column("x", INT())), _table("b", Column("x", STRING())), _table("c", key=("name",))],
        )
    assert "shop.a and shop.b both go to ods.all; column x is INT in one and STRING in the other." in str(wrong.value)
    assert "shop.a and shop.c both go to ods.all, and have different keys." in str(wrong.value)


def test_a_projection_without_the_key_is_refused() -> None:
    """Rows that cannot be found again cannot be changed."""
    transform = "transform: [{source-table: shop.users, projection: name}]\n"
    with pytest.raises(LakewardError, match="leaves out id, of its primary key"):
        plan_tables(_definition(transform), [_table("users")])


def test_another_key_needs_the_row_as_it_was() -> None:
    """Without it nobody knows which row of the sink goes."""
    transform = "transform: [{source-table: shop.users, primary-keys: name}]\n"
    [plan] = plan_tables(_definition(transform), [_table("users")])
    assert plan.schema.primary_key == ("name",)
    with pytest.raises(LakewardError, match="REPLICA IDENTITY FULL"):
        plan_tables(_definition(transform), [_table("users", has_before=False)])


def test_plain_columns_need_no_expressions() -> None:
    """Names and `*` are known without Spark; expressions are asked for."""
    [plan] = plan_tables(
        _definition("transform: [{source-table: shop.users, projection: 'name AS who, id'}]\n"), [_table("users")]
    )
    assert plan.schema.names == ("who", "id")
    asked = plan_tables(
        _definition("transform: [{source-table: shop.users, projection: '*, id + 1 AS next'}]\n"),
        [_table("users")],
        lambda schema, _: [*schema.columns, Column("next", BIGINT())],
    )
    assert asked[0].schema.names == ("id", "name", "next")
    assert asked[0].projection[1].text == "`id` + 1"


def test_a_partition_key_must_be_a_column() -> None:
    """A misspelt one is told with the columns there are."""
    with pytest.raises(LakewardError, match="is to partition by day, which is no column of the result"):
        plan_tables(_definition("transform: [{source-table: shop.users, partition-keys: day}]\n"), [_table("users")])


def test_expressions_and_filters_are_computed() -> None:
    """Names and `*` are not: they need no Spark."""
    users = TableId("shop", "users")
    assert not is_computed(_definition(), users)
    assert not is_computed(_definition("transform: [{source-table: shop.users, projection: 'id, name AS x'}]\n"), users)
    assert is_computed(_definition("transform: [{source-table: shop.users, projection: 'id, 1 + 1 AS x'}]\n"), users)
    assert is_computed(_definition("transform: [{source-table: shop.users, filter: id > 1}]\n"), users)
