"""A whole server by seed, in memory, cut off in the middle of what it writes.

`make test-simulation` cuts it off at every single write of longer workloads.
"""

from __future__ import annotations

import os

import pytest
from crashes import KILL, POWER_CUT, Campaign

_SEEDS = int(os.environ.get("SIMULATION_SEEDS", "4"))
_OPERATIONS = int(os.environ.get("SIMULATION_OPERATIONS", "120"))
_EVERY = int(os.environ.get("SIMULATION_EVERY", "31"))


@pytest.mark.crash
@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("seed", range(1, _SEEDS + 1))
def test_what_was_acknowledged_is_there_after_a_crash(seed: int) -> None:
    """After a kill all of it, once and in order; after a power cut what was synced, and a prefix of the rest."""
    campaign = Campaign(seed, _OPERATIONS, _EVERY, is_flushed=seed % 3 == 0)
    campaign.run()
    assert campaign.ran[KILL] == campaign.ran[POWER_CUT] > 0
    print(f"seed {seed}: {campaign.changes} changes, crashes: {dict(campaign.ran)}")


def test_a_seed_is_repeatable() -> None:
    """The same seed makes the same changes in the same order."""
    first, second = Campaign(7, 60, every=1 << 30), Campaign(7, 60, every=1 << 30)
    first.run()
    second.run()
    assert first.history == second.history
