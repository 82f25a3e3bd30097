"""What a change makes of a table's descriptor."""

from __future__ import annotations

from dataclasses import replace

import pytest
from coordinator_world import World

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import INT, ROW, STRING
from lakeward.model.schema import Aggregate, Column
from lakeward.server.coordinator.tables.alteration import Alteration, AlterOp
from lakeward.server.coordinator.tables.table_changes import (
    FIELD_ID_MAX,
    SCHEMA_ID_MAX,
    with_added_columns,
    with_altered_properties,
)


def test_several_columns_are_added_in_order(world: World) -> None:
    """One new schema holds them all, numbered on."""
    table = world.create(columns=["a INTEGER"])
    columns = [Column("b", ROW([("x", INT())])), Column("c", STRING())]
    assert [(c.name, c.id) for c in with_added_columns(table, columns).schema.columns] == [
        ("a", 0),
        ("b", 1),
        ("c", 3),
    ]


def test_two_new_columns_of_one_name_are_refused(world: World) -> None:
    """Also when neither was there before."""
    with pytest.raises(LakewardError, match="already exists") as refused:
        with_added_columns(world.create(), [Column("x", INT()), Column("x", STRING())])
    assert refused.value.code is ErrorCode.INVALID_ALTER_TABLE


def test_schema_ids_end_where_batches_cannot_carry_them(world: World) -> None:
    """A record batch has 16 bits for the id."""
    worn = replace(world.create(), schema_id=SCHEMA_ID_MAX)
    with pytest.raises(LakewardError, match="schemas"):
        with_added_columns(worn, [Column("x", INT())])


def test_column_ids_end_with_32_bits(world: World) -> None:
    """A schema that claims the highest id can have no more columns."""
    table = world.create(schema={"highest_field_id": FIELD_ID_MAX})
    with pytest.raises(LakewardError, match="column ids"):
        with_added_columns(table, [Column("x", INT())])


def test_an_aggregating_table_takes_functions(world: World) -> None:
    """On columns they fit."""
    table = world.create(key=["id"], properties={"table.merge-engine": "aggregation"})
    assert with_added_columns(table, [Column("x", INT(), aggregate=Aggregate("sum"))])
    with pytest.raises(LakewardError, match="'x'"):
        with_added_columns(table, [Column("x", STRING(), aggregate=Aggregate("sum"))])


def test_properties_of_the_cluster_s_lake_may_change() -> None:
    """Once the format is recorded, freshness and the switch are free."""
    world = World(datalake_format="paimon")
    table = world.create(key=["id"])
    changed = with_altered_properties(
        table,
        [
            Alteration("table.datalake.enabled", "true", AlterOp.SET),
            Alteration("log.tiering.interval.ms", "60000", AlterOp.SET),
            Alteration("table.kv.standby-replica.enabled", "false", AlterOp.SET),
        ],
        "paimon",
        may_be_tiered=True,
    )
    assert changed.properties["table.datalake.freshness"] == "60000 ms"
    assert changed.properties["table.datalake.enabled"] == "true"
    assert changed.properties["table.kv.standby-replica.enabled"] == "false"
