"""Grants of a server that is cut off at every write."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
from crashes import KILL, POWER_CUT, CrashPoint
from principals import ALICE, PrincipalWorld, dropping

from lakeward.model.acl import CLUSTER, Acl, AclFilter, Operation, Resource
from lakeward.model.principal import Principal
from lakeward.protocol.api import Api
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.memory_files import MemoryFiles

FIRST = [Acl(CLUSTER, ALICE, Operation.DESCRIBE)]
MORE = [Acl(Resource.database(name), Principal(name), Operation.ALL) for name in ("a", "b", "c")]


@pytest.mark.crash
@pytest.mark.parametrize("kind", [KILL, POWER_CUT])
def test_a_grant_is_there_whole_or_not_at_all(kind: str) -> None:
    """Granting and taking back are answered when they are on disk, and leave no half of a request behind."""
    clock = ManualClock()
    files = MemoryFiles(clock.now_ms)
    world = PrincipalWorld(files, clock)
    states: list[set[Acl]] = [set(), set(FIRST), {*FIRST, *MORE}, set(FIRST)]
    steps: list[Callable[[], object]] = [
        lambda: world.grant(*FIRST),
        lambda: world.grant(*MORE),
        lambda: world.admin.call(Api.DROP_ACLS, dropping(AclFilter(operation=Operation.ALL))),
    ]
    points: list[CrashPoint] = []
    files.watch = lambda change: points.append(CrashPoint(len(points), change, files.copy(), clock.now_ms()))
    checked = 0
    for number, step in enumerate(steps):
        points.clear()
        step()
        for point in points:
            if point.change.what == "time":
                continue
            assert _after(point, kind, number) in (states[number], states[number + 1])
            checked += 1
        assert _left(files.copy().after_power_cut(SeededEntropy(number)), clock) == states[number + 1]
    assert checked > 3
    world.stop()


def _after(point: CrashPoint, kind: str, seed: int) -> set[Acl]:
    chance = SeededEntropy(seed * 1_000_003 + point.number)
    left = point.files.after_kill(point.change, chance) if kind == KILL else point.files.after_power_cut(chance)
    return _left(left, ManualClock(point.now_ms))


def _left(files: MemoryFiles, clock: ManualClock) -> set[Acl]:
    """What a server finds that comes up on these files."""
    files.now_ms = clock.now_ms
    world = PrincipalWorld(files, clock)
    found = set(world.acls())
    world.stop()
    gc.unfreeze()
    return found
