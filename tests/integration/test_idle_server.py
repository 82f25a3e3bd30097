"""What an idle server costs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psutil
from logins import ASKING, JAAS, log_in
from seaweed import Bucket
from server_process import ServerProcess
from wire_client import WireClient

from lakeward.runtime.process.child import Child

#: Held open at once, fewer than a shell's usual limit of files; the first ones make what the others share.
_CONNECTIONS, _WARM = 600, 50


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


def test_somebody_who_is_in_and_says_nothing_takes_ten_kilobytes_at_most(
    new_server: Callable[..., ServerProcess],
) -> None:
    """A connection that has logged in costs what any connection costs, and a name."""
    server = new_server(security__sasl__plain__jaas__config=JAAS, **ASKING)
    with ExitStack() as held:
        for number in range(_CONNECTIONS + _WARM):
            if number == _WARM:
                before = server.memory_bytes
            log_in(held.enter_context(WireClient.of(server.listeners["CLIENT"])), "alice", "alice-secret")
        assert server.memory_bytes - before < _CONNECTIONS * 10_000
