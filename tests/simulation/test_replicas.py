"""Three replicas through crashes, cut lines, lost answers and elections: what was promised is kept, by seed."""

from __future__ import annotations

import os

import pytest
from logs import contents
from replica_world import World

_SEEDS = int(os.environ.get("SIMULATION_REPLICA_SEEDS", "150"))
_ACTS = int(os.environ.get("SIMULATION_REPLICA_ACTS", "250"))


@pytest.mark.parametrize("first", range(0, _SEEDS, 50))
def test_what_was_promised_is_kept_and_all_have_the_same_bytes(first: int) -> None:
    """No two leaders of an epoch; every promised batch at its offset; the same log everywhere, once all is well."""
    for seed in range(first, min(first + 50, _SEEDS)):
        world = World(seed)
        try:
            for _ in range(_ACTS):
                world.act()
            world.heal()
            logs = [contents(server.log) for server in world.servers]
            assert logs[0] == logs[1] == logs[2]
            assert world.promised.items() <= dict(logs[0]).items()
            assert not any(server.log.damages for server in world.servers)
        except Exception as wrong:
            raise AssertionError(f"seed {seed}: {wrong!r}") from wrong
