"""Receive buffers: large enough, used again, not hoarded."""

from __future__ import annotations

import pytest

from lakeward.rpc.buffer_pool import BufferPool


@pytest.mark.parametrize("size", [1, 131072, 131073, 1 << 20, (1 << 20) + 1, 100 << 20])
def test_a_buffer_is_large_enough_and_not_much_larger(size: int) -> None:
    """At most twice what was asked for, above a smallest size."""
    buffer = BufferPool().take(size)
    assert size <= len(buffer) <= max(2 * size, 128 * 1024)


def test_a_buffer_given_back_is_taken_again() -> None:
    """Memory that was touched once is not thrown away."""
    pool = BufferPool()
    first = pool.take(200_000)
    pool.give(first)
    assert pool.take(250_000) is first
    assert pool.take(250_000) is not first


def test_sizes_do_not_mix() -> None:
    """A small frame does not take the buffer of a large one, nor the other way round."""
    pool = BufferPool()
    large = pool.take(10 << 20)
    pool.give(large)
    assert pool.take(200_000) is not large
    assert len(pool.take(20 << 20)) >= 20 << 20


def test_idle_memory_is_bounded() -> None:
    """After a burst only so much is kept."""
    pool = BufferPool(idle_bytes_max=1 << 20)
    buffers = [pool.take(400_000) for _ in range(10)]
    for buffer in buffers:
        pool.give(buffer)
    kept = [pool.take(400_000) for _ in range(10)]
    assert sum(any(one is old for old in buffers) for one in kept) == 2


def test_what_is_taken_is_not_idle() -> None:
    """Taking and giving back in turns never runs into the limit."""
    pool = BufferPool(idle_bytes_max=1 << 20)
    first = pool.take(1 << 20)
    for _ in range(20):
        pool.give(first)
        assert pool.take(1 << 20) is first
