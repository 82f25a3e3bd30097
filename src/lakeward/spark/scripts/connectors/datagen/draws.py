"""Numbers that look random, each a function of a seed and a place: any of them can be had without those before it."""

from __future__ import annotations

from hashlib import sha256
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

U64: TypeAlias = NDArray[np.uint64]

_LOW_32 = np.uint64(0xFFFFFFFF)
_GOLDEN, _FIRST, _SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_S27, _S30, _S31, _S32 = (np.uint64(n) for n in (27, 30, 31, 32))
_U64_BITS = 64
_U64_MASK = (1 << _U64_BITS) - 1
#: Steps between two bounds that a draw can tell apart.
_STEPS_MAX = 1 << 60


def seed_of(*parts: object) -> int:
    """A seed for one purpose: other parts make numbers that have nothing to do with these."""
    return int.from_bytes(sha256(repr(parts).encode()).digest()[:8], "little")


def draw(seed: int, places: U64) -> U64:
    """64 bits for each place (SplitMix64)."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (places + np.uint64(1)) * _GOLDEN
        z = (z ^ (z >> _S30)) * _FIRST
        z = (z ^ (z >> _S27)) * _SECOND
        return z ^ (z >> _S31)


def draw_unit(seed: int, places: U64) -> NDArray[np.float64]:
    """A fraction from 0 to just below 1 for each place."""
    fractions: NDArray[np.float64] = (draw(seed, places) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return fractions


def draw_below(seed: int, places: U64, end: int) -> U64:
    """A whole number from 0 to `end` - 1 for each place; `end` is at most 2^64."""
    drawn = draw(seed, places)
    return drawn if end > _U64_MASK else drawn % np.uint64(end)


def draw_wide(seed: int, places: U64, low: int, high: int) -> NDArray[np.uint64]:
    """A number of 128 bits between two bounds for each place, as (low half, high half) beside each other."""
    span = high - low + 1
    step = max(1, -(-span // _STEPS_MAX))
    return wide_line(draw_below(seed, places, span // step), low, step)


def wide_line(steps: U64, low: int, step: int) -> NDArray[np.uint64]:
    """low + steps × step in two's complement of 128 bits, as (low half, high half) beside each other."""
    with np.errstate(over="ignore"):
        first, first_carry = _product(steps, step & _U64_MASK)
        second = steps * np.uint64(step >> _U64_BITS) + first_carry
        lower = first + np.uint64(low & _U64_MASK)
        upper = second + np.uint64((low >> _U64_BITS) & _U64_MASK) + (lower < first).astype(np.uint64)
    return np.stack([lower, upper], axis=1)


def _product(left: U64, right: int) -> tuple[U64, U64]:
    """The low and the high half of a product."""
    a0, a1 = left & _LOW_32, left >> _S32
    b0, b1 = np.uint64(right & 0xFFFFFFFF), np.uint64(right >> 32)
    low, middle, other, high = a0 * b0, a1 * b0, a0 * b1, a1 * b1
    carried = (low >> _S32) + (middle & _LOW_32) + (other & _LOW_32)
    return (low & _LOW_32) | (carried << _S32), high + (middle >> _S32) + (other >> _S32) + (carried >> _S32)
