"""Loops that bring the bytes of cells together."""

from __future__ import annotations

from typing import Any

from lakeward.records.kernels.kernel import kernel
from lakeward.records.kernels.memory_kernels import address, copy_bytes


@kernel
def measure_cells(lengths: Any, offsets: Any) -> int:
    """Where each value begins when they stand one after the other; the number of bytes."""
    total = 0
    for i in range(lengths.size):
        offsets[i] = total
        if lengths[i] > 0:
            total += lengths[i]
    offsets[lengths.size] = total
    return total


@kernel
def copy_cells(data: Any, starts: Any, lengths: Any, offsets: Any, values: Any) -> None:
    """Copy each value to its place."""
    here, there = address(data), address(values)
    for i in range(lengths.size):
        if lengths[i] > 0:
            copy_bytes(there + offsets[i], here + starts[i], lengths[i])


@kernel
def copy_fixed_cells(data: Any, starts: Any, lengths: Any, width: int, values: Any) -> None:
    """Copy values to places of one width."""
    for i in range(lengths.size):
        for j in range(min(width, lengths[i])):
            values[i * width + j] = data[starts[i] + j]


@kernel
def measure_mapped(data: Any, starts: Any, lengths: Any, widths: Any, offsets: Any) -> int:
    """Where each value begins when every byte is replaced by `widths[byte]` bytes; the number of bytes."""
    total = 0
    for i in range(lengths.size):
        offsets[i] = total
        for j in range(lengths[i]):
            total += widths[data[starts[i] + j]]
    offsets[lengths.size] = total
    return total


@kernel
def copy_mapped(data: Any, starts: Any, lengths: Any, widths: Any, table: Any, offsets: Any, values: Any) -> None:
    """Copy each value to its place, every byte replaced by its row of `table`."""
    for i in range(lengths.size):
        at = offsets[i]
        for j in range(lengths[i]):
            byte = data[starts[i] + j]
            for k in range(widths[byte]):
                values[at + k] = table[byte, k]
            at += widths[byte]
