"""Randomness, repeatable or not."""

from __future__ import annotations

import pytest

from lakeward.runtime.entropy import Entropy, SeededEntropy, SystemEntropy


def drawn(entropy: Entropy) -> list[object]:
    """One of everything."""
    return [entropy.uuid(), entropy.below(1000), entropy.fraction(), entropy.token(8)]


def test_a_seed_makes_a_run_repeatable() -> None:
    """The same seed gives the same values, another seed others."""
    assert drawn(SeededEntropy(7)) == drawn(SeededEntropy(7))
    assert drawn(SeededEntropy(7)) != drawn(SeededEntropy(8))


@pytest.mark.parametrize("entropy", [SeededEntropy(1), SystemEntropy()])
def test_values_are_within_their_bounds(entropy: Entropy) -> None:
    """Numbers stay below their bound, ids are of version 4, tokens have the size asked for."""
    assert all(0 <= entropy.below(3) < 3 for _ in range(50))
    assert all(0.0 <= entropy.fraction() < 1.0 for _ in range(50))
    assert entropy.uuid().version == 4
    assert entropy.uuid() != entropy.uuid()
    assert len(entropy.token(16)) == 16
