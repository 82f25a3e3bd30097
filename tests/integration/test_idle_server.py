"""What an idle server costs."""

from __future__ import annotations

from pathlib import Path

from server_process import ServerProcess


def test_an_idle_server_has_no_heavy_library_loaded(lakeward: ServerProcess) -> None:
    """Neither Arrow nor the compiler of kernels is loaded by a server that serves logs only."""
    mapped = Path(f"/proc/{lakeward.pid}/maps").read_text()
    assert "libpython" in mapped or "python" in mapped
    assert not [name for name in ("libarrow", "llvmlite", "pandas", "polars") if name in mapped]
