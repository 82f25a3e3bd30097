"""What an idle server costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
from seaweed import Bucket
from server_process import ServerProcess

from lakeward.runtime.process.child import Child


def test_an_idle_server_has_no_heavy_library_loaded(new_server: Callable[..., ServerProcess]) -> None:
    """Neither Arrow nor the compiler of kernels is loaded by a server that holds no primary key table."""
    mapped = Path(f"/proc/{new_server(starter=Child).pid}/maps").read_text()
    assert "python" in mapped
    assert not [name for name in ("libarrow", "llvmlite", "pandas", "polars", "obstore") if name in mapped]


def test_a_server_with_history_in_s3_loads_what_speaks_s3_and_no_more(
    new_server: Callable[..., ServerProcess], s3: Bucket
) -> None:
    """Remote storage costs a few megabytes; an idle server stays under 120 MB."""
    server = new_server(starter=Child, **s3.server_options)
    mapped = Path(f"/proc/{server.pid}/maps").read_text()
    assert "obstore" in mapped
    assert not [name for name in ("libarrow", "llvmlite", "pandas", "polars") if name in mapped]
    assert psutil.Process(server.pid).memory_info().rss < 120e6
