"""Where the server waits for the disk."""

from __future__ import annotations

from simulated_server import SimulatedServer
from workload import Workload

from lakeward.runtime.clock import ManualClock
from lakeward.runtime.files.memory_files import Change, MemoryFiles

_OPERATIONS = 300


def test_the_loop_waits_for_the_disk_for_metadata_alone() -> None:
    """Everything else is synced by a thread: checkpoints, flushes, snapshots, what retention notes."""
    clock = ManualClock()
    files = MemoryFiles(clock.now_ms)
    server = SimulatedServer(files, clock, 5, **{"log.flush.interval-messages": "3"})
    on_loop: set[str] = set()
    on_threads = 0

    def watch(change: Change) -> None:
        nonlocal on_threads
        if change.what in {"sync", "sync directory"}:
            if server.loop.is_on_a_thread:
                on_threads += 1
            else:
                on_loop.add(change.path.name.partition(".")[0])

    workload = Workload(server, 5)
    files.watch = watch
    for _ in range(_OPERATIONS):
        workload.step()
    assert on_loop == {"metadata"}
    assert on_threads > 100
    server.stop()
