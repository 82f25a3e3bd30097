"""Which rounds a service holds, in a file."""

from __future__ import annotations

import os
from pathlib import Path

from lakeward.client.admin.lake import TieringRound
from lakeward.model.table import TablePath
from lakeward.runtime.entropy import SeededEntropy
from lakeward.tiering.round.held_rounds import HeldRounds

ROUND = TieringRound(7, TablePath("shop", "orders"), 3, 12)
ENTROPY = SeededEntropy(5)


def died(held: HeldRounds) -> None:
    """As kill -9 leaves it: the file stays, the lock goes."""
    assert held._lock is not None
    os.close(held._lock)


def test_what_was_held_is_found_once(tmp_path: Path) -> None:
    """By the next service; the one after it finds nothing, and no file is left."""
    first = HeldRounds(tmp_path, "here", ENTROPY)
    first.remember([])
    first.remember([ROUND])
    died(first)
    assert HeldRounds(tmp_path, "here", ENTROPY).left_behind() == [ROUND]
    assert HeldRounds(tmp_path, "here", ENTROPY).left_behind() == []
    assert list(tmp_path.iterdir()) == []


def test_a_living_service_and_another_cluster_are_left_alone(tmp_path: Path) -> None:
    """Their rounds are theirs."""
    living, elsewhere = HeldRounds(tmp_path, "here", ENTROPY), HeldRounds(tmp_path, "there", ENTROPY)
    living.remember([ROUND])
    elsewhere.remember([ROUND])
    died(elsewhere)
    assert HeldRounds(tmp_path, "here", ENTROPY).left_behind() == []
    assert HeldRounds(tmp_path, "there", ENTROPY).left_behind() == [ROUND]
    living.close()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_removed(tmp_path: Path) -> None:
    """The coordinator's own time-out remains."""
    held = HeldRounds(tmp_path, "here", ENTROPY)
    held.remember([ROUND])
    died(held)
    (file,) = tmp_path.glob("*.json")
    file.write_text('[{"table_id": 7}]')
    assert HeldRounds(tmp_path, "here", ENTROPY).left_behind() == []
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_before_something_is_held(tmp_path: Path) -> None:
    """A service that is only asked for its help leaves no trace."""
    held = HeldRounds(tmp_path / "none", "here", ENTROPY)
    assert held.left_behind() == []
    held.close()
    assert not (tmp_path / "none").exists()
