"""Who tidies up, and when."""

from __future__ import annotations

from typing import Any

import pytest
from lake_tables import table_info

from lakeward.client.admin.lake import TieringRound
from lakeward.errors import ErrorCode
from lakeward.lake.conflict import LakeConflictError
from lakeward.model.table import TableInfo
from lakeward.runtime.clock import ManualClock
from lakeward.tiering.round.round import RoundReport
from lakeward.tiering.watch.housekeeper import Housekeeper

INFO = table_info({"id": "BIGINT"})
HELD = TieringRound(7, INFO.path, 0, 1)


class World:
    """Connection, catalogs and lake table in one."""

    def __init__(self, **properties: str) -> None:
        from dataclasses import replace

        named = {f"table.datalake.{k.replace('_', '-')}": v for k, v in properties.items()}
        self.info: TableInfo = replace(INFO, descriptor=replace(INFO.descriptor, properties=named))
        self.done: list[Any] = []
        self.wrong: Exception | None = None
        self.lake = self

    def table(self, name: str) -> World:
        return self

    def of(self, info: TableInfo) -> World:
        return self

    def ensure(self, info: TableInfo) -> World:
        return self

    def snapshot(self, path: object) -> None:
        return None

    def compact(self) -> int:
        self.done.append("compacted")
        if self.wrong is not None:
            raise self.wrong
        return 9

    def expire(self, now_ms: int, keep: Any = ()) -> int:
        self.done.append("expired")
        return 1

    def orphans(self, older_than_ms: int) -> list[str]:
        raise AssertionError("files are looked for by people only")

    def remove(self, paths: Any) -> None:
        raise AssertionError("as above")


def after_rounds(world: Any, count: int, snapshot_id: int | None = 1) -> list[Any]:
    """What was done after this many rounds."""
    housekeeper = Housekeeper(world, world, ManualClock(), rounds_between=3)
    for _ in range(count):
        housekeeper.on_end(HELD, RoundReport(INFO.path, snapshot_id, repaired=False))
        housekeeper._thread.submit(lambda: None).result()
    housekeeper.close()
    done: list[Any] = world.done
    return done


def test_a_table_is_tidied_up_after_some_rounds() -> None:
    """Those without news do not count."""
    both = {"auto_compaction": "true", "auto_expire_snapshot": "true"}
    assert after_rounds(World(**both), 2) == []
    assert after_rounds(World(**both), 7) == ["compacted", "expired"] * 2
    assert after_rounds(World(**both), 7, snapshot_id=None) == []


@pytest.mark.parametrize(
    ("asked", "done"), [("auto_compaction", ["compacted"]), ("auto_expire_snapshot", ["expired"]), ("enabled", [])]
)
def test_only_what_the_table_asks_for_is_done(asked: str, done: list[str]) -> None:
    """Both are off unless they are asked for, as in Apache Fluss."""
    assert after_rounds(World(**{asked: "true"}), 3) == done


@pytest.mark.parametrize("wrong", [LakeConflictError("overtaken"), ErrorCode.STORAGE.error("full"), OSError("gone")])
def test_a_failure_is_not_the_rounds_business(wrong: Exception) -> None:
    """It is tried again after some more."""
    world = World(auto_compaction="true")
    world.wrong = wrong
    assert after_rounds(world, 6) == ["compacted"] * 2
