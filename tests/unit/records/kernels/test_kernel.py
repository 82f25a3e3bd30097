"""Compiled functions, also where nothing can be kept on disk."""

from __future__ import annotations

from typing import Any

import numba
import pytest

from lakeward.records.kernels import kernel as module
from lakeward.records.kernels.kernel import kernel, kernel_part


def test_parts_are_called_by_compiled_functions() -> None:
    """A part has no door for Python; what is built of it has."""

    @kernel_part
    def twice(number: int) -> int:
        return 2 * number

    @numba.njit
    def whole(number: int) -> int:
        return twice(number) + 1

    assert whole(20) == 41


def test_a_read_only_installation_compiles_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a place for compiled code, functions work all the same, compiled anew by each process."""

    def njit(**options: Any) -> Any:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)

    monkeypatch.setattr(module, "njit", njit)

    @kernel
    def add_one(number: int) -> int:
        return number + 1

    assert add_one(41) == 42
