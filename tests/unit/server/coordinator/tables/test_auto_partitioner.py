"""The calendar applied to the catalog."""

from __future__ import annotations

import logging

import pytest
from coordinator_world import World, alter_request

from lakeward.protocol.api import Api
from lakeward.server.catalog.events import PartitionCreated, PartitionDropped

DAY_MS = 86_400_000
AUTO = {"table.auto-partition.enabled": "true"}
TEN_MINUTES_MS = 600_000


def auto(**more: str) -> dict[str, object]:
    """A table partitioned by day."""
    properties = {**AUTO, **{f"table.auto-partition.{k.replace('_', '-')}": v for k, v in more.items()}}
    return {"partitions": ["dt"], "properties": properties}


def test_a_new_table_has_its_first_partitions_at_once(world: World) -> None:
    """Nobody waits for the first check."""
    world.create(**auto())
    assert world.partitions() == ["20241111", "20241112"]
    assert sum(isinstance(event, PartitionCreated) for event in world.events) == 2


def test_a_check_creates_and_drops(world: World) -> None:
    """Each check moves the window; dropped partitions are told to listeners."""
    world.create(**auto(num_retention="1"))
    world.coordinator.tick()
    world.clock.advance(3 * DAY_MS)
    world.coordinator.tick()
    assert world.partitions() == ["20241114", "20241115"]
    dropped = [e.partition.name for e in world.events if isinstance(e, PartitionDropped)]
    assert dropped == ["20241111", "20241112"]


def test_checks_wait_for_their_interval(world: World) -> None:
    """Between two checks nothing happens."""
    world.create(**auto())
    world.coordinator.tick()
    world.clock.jump_to(world.clock.now_ms() + 5 * DAY_MS)
    world.clock.advance(TEN_MINUTES_MS - 1)
    world.coordinator.tick()
    assert world.partitions() == ["20241111", "20241112"]
    world.clock.advance(1)
    world.coordinator.tick()
    assert "20241116" in world.partitions()


def test_altering_takes_effect_at_once(world: World) -> None:
    """More partitions ahead appear with the change that asks for them."""
    world.create(**auto())
    world.ask(Api.ALTER_TABLE, alter_request(**{"table.auto-partition.num-precreate": "4"}))
    assert len(world.partitions()) == 4


def test_enabling_later_works_and_disabling_stops(world: World) -> None:
    """A table may join the calendar, and leave it."""
    world.create(partitions=["dt"])
    assert world.partitions() == []
    world.ask(Api.ALTER_TABLE, alter_request(**AUTO))
    assert len(world.partitions()) == 2
    world.ask(Api.ALTER_TABLE, alter_request(**{"table.auto-partition.enabled": "false"}))
    world.clock.advance(30 * DAY_MS)
    world.coordinator.tick()
    assert world.partitions() == ["20241111", "20241112"]


def test_several_keys_expire_by_the_one_that_holds_the_time(world: World) -> None:
    """All partitions that share an expired time go; none is created ahead."""
    world.create(
        partitions=["name", "dt"],
        properties={**AUTO, "table.auto-partition.key": "dt", "table.auto-partition.num-retention": "1"},
    )
    assert world.partitions() == []
    for name, day in (("a", "20241111"), ("b", "20241111"), ("a", "20241113")):
        world.coordinator.partitions.create(world.table().path, {"name": name, "dt": day}, ignore_if_exists=False)
    world.clock.advance(2 * DAY_MS)
    world.coordinator.tick()
    assert world.partitions() == ["a$20241113"]


def test_too_many_partitions_are_logged_and_skipped(caplog: pytest.LogCaptureFixture) -> None:
    """The limit of partitions holds for the calendar too."""
    world = World(max_partition_num="3")
    with caplog.at_level(logging.WARNING):
        world.create(**auto(num_precreate="10"))
    assert len(world.partitions()) == 3


def test_a_factor_that_cannot_be_met_creates_no_partitions(caplog: pytest.LogCaptureFixture, world: World) -> None:
    """The table is created, as upstream does; its partitions wait for servers."""
    description = auto()
    description["properties"] = {**AUTO, "table.replication.factor": "3"}
    with caplog.at_level(logging.WARNING):
        world.create(**description)
    assert world.partitions() == []
    assert "Replication factor" in caplog.text
