"""Heartbeats of tiering services, and tables that come, change and go meanwhile."""

from __future__ import annotations

from typing import Any

from coordinator_world import alter_request, path
from lake_world import TIERED, LakeWorld

from lakeward.protocol.api import Api
from lakeward.protocol.messages import lake as messages
from lakeward.protocol.messages.table import DropTableRequest
from lakeward.server.coordinator.lake.tiering_states import TieringState

NO_TABLE, OTHER_COORDINATOR, FENCED = 7, 23, 50


def codes(answers: Any) -> list[int]:
    """The error codes of the entries of a heartbeat's answer."""
    return [0 if one.error is None else one.error.error_code for one in answers]


# -- rounds


def test_a_round_from_the_first_heartbeat_to_the_last(lake: LakeWorld) -> None:
    """An empty one tells the coordinator's epoch, the rest is one table's round."""
    assert lake.beat() == messages.LakeTieringHeartbeatResponse(coordinator_epoch=0)
    assert lake.take() is None
    assert lake.take_due() == ("t", 1)
    table_id = lake.table().table_id
    assert codes(lake.beat(tiering_tables=[(table_id, 1)]).tiering_table_resp) == [0]
    assert codes(lake.beat(finished_tables=[(table_id, 1)]).finished_table_resp) == [0]
    assert lake.state() is TieringState.SCHEDULED
    assert lake.take_due() == ("t", 2)


def test_each_entry_has_its_own_error(lake: LakeWorld) -> None:
    """The request itself is answered; the others in it count."""
    lake.take_due()
    table_id = lake.table().table_id
    answer = lake.beat(
        tiering_tables=[(table_id, 1), (table_id, 9), (99, 1), (table_id, 1, 7)],
        finished_tables=[(99, 1)],
        failed_tables=[(table_id, 1, -1)],
    )
    assert codes(answer.tiering_table_resp) == [0, FENCED, NO_TABLE, OTHER_COORDINATOR]
    assert codes(answer.finished_table_resp) == [NO_TABLE]
    assert codes(answer.failed_table_resp) == [OTHER_COORDINATOR]
    assert lake.state() is TieringState.TIERING


def test_failed_tables_come_first_and_new_work_last(lake: LakeWorld) -> None:
    """So one heartbeat can fail a round and take the next of the same table."""
    lake.take_due()
    table_id = lake.table().table_id
    answer = lake.beat(failed_tables=[(table_id, 1)], tiering_tables=[(table_id, 1)], request_table=True)
    assert codes(answer.failed_table_resp) == [0]
    assert codes(answer.tiering_table_resp) == [FENCED]
    assert answer.tiering_table is not None
    assert answer.tiering_table.tiering_epoch == 2


def test_a_forced_finish_is_pending_at_once(lake: LakeWorld) -> None:
    """Without waiting for the freshness."""
    lake.take_due()
    table_id = lake.table().table_id
    lake.beat(finished_tables=[(table_id, 1)], force_finished_tables=(table_id,))
    assert lake.take() == ("t", 2)


def test_a_silent_service_loses_its_table(lake: LakeWorld) -> None:
    """After two minutes by the coordinator's own clock, without anybody asking."""
    lake.take_due()
    lake.clock.advance(120_000)
    lake.coordinator.tick()
    assert lake.state() is TieringState.PENDING
    assert codes(lake.beat(tiering_tables=[(lake.table().table_id, 1)]).tiering_table_resp) == [FENCED]


def test_a_clock_that_is_set_ends_no_round(lake: LakeWorld) -> None:
    """Only time that has passed counts."""
    lake.take_due()
    lake.clock.jump_to(lake.clock.now_ms() + 10**9)
    lake.coordinator.tick()
    assert lake.state() is TieringState.TIERING


def test_a_restart_fences_everybody_and_goes_by_the_last_snapshot(lake: LakeWorld) -> None:
    """The coordinator's epoch grows, and a table is due when its last snapshot is older than its freshness."""
    lake.create("fresh", properties=TIERED)
    lake.take_due()
    table_id = lake.table().table_id
    assert lake.commit(1, lake.prepared({0: 1}, "fresh"), "fresh") == 0
    again = lake.again()
    assert again.beat().coordinator_epoch == 1
    assert codes(again.beat(finished_tables=[(table_id, 1, 0)]).finished_table_resp) == [OTHER_COORDINATOR]
    assert again.take() == ("t", 1)
    assert again.take() is None
    assert again.state("fresh") is TieringState.SCHEDULED
    assert again.take_due() == ("fresh", 1)


# -- tables come, change and go


def test_tiering_follows_what_happens_to_a_table(lake: LakeWorld) -> None:
    """Only lake tables are tiered; turned on later, turned off, dropped."""
    lake.create("later")
    assert lake.state("later") is None
    lake.ask(Api.ALTER_TABLE, alter_request("later", **{"table.datalake.enabled": "true"}))
    assert lake.state("later") is TieringState.SCHEDULED
    lake.ask(Api.ALTER_TABLE, alter_request("later", **{"table.datalake.enabled": "false"}))
    assert lake.state("later") is None
    table_id = lake.table().table_id
    lake.take_due()
    lake.ask(Api.DROP_TABLE, DropTableRequest(table_path=path(), ignore_if_not_exists=False))
    assert codes(lake.beat(finished_tables=[(table_id, 1)]).finished_table_resp) == [NO_TABLE]


def test_another_freshness_is_obeyed(lake: LakeWorld) -> None:
    """At once for a table that waits."""
    lake.ask(Api.ALTER_TABLE, alter_request(**{"table.datalake.freshness": "1 h"}))
    assert lake.take_due() is None
    lake.ask(Api.ALTER_TABLE, alter_request(**{"table.datalake.freshness": "1 s"}))
    assert lake.take() == ("t", 1)


def test_a_pause_outlives_a_restart(lake: LakeWorld) -> None:
    """It is a custom property, which every cluster keeps."""
    lake.ask(Api.ALTER_TABLE, alter_request(**{"lakeward.tiering.paused": "true"}))
    assert lake.take_due() is None
    again = lake.again()
    assert again.take_due() is None
    again.ask(Api.ALTER_TABLE, alter_request(**{"lakeward.tiering.paused": None}))
    assert again.take() == ("t", 1)


def test_a_round_can_be_asked_for(lake: LakeWorld) -> None:
    """Each new value of the property asks once; an answer that a restart prevented comes after it."""
    asked = {"lakeward.tiering.requested": str(lake.clock.now_ms() + 1)}
    lake.ask(Api.ALTER_TABLE, alter_request(**asked))
    again = lake.again()
    assert again.take() == ("t", 1)
    again.beat(finished_tables=[(again.table().table_id, 1)])
    again.ask(Api.ALTER_TABLE, alter_request(**asked, **{"table.log.ttl": "1 d"}))
    assert again.take() is None
    again.ask(Api.ALTER_TABLE, alter_request(**{"lakeward.tiering.requested": "1"}))
    assert again.take() == ("t", 2)
