"""What an idle server costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from server_process import ServerProcess


def test_an_idle_server_has_no_heavy_library_loaded(new_server: Callable[..., ServerProcess]) -> None:
    """Neither Arrow nor the compiler of kernels is loaded by a server that holds no primary key table."""
    mapped = Path(f"/proc/{new_server().pid}/maps").read_text()
    assert "python" in mapped
    assert not [name for name in ("libarrow", "llvmlite", "pandas", "polars") if name in mapped]
