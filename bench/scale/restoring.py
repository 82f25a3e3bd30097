"""A server that lost its disk, in any shape."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from bench.scale.bed import Bed
from bench.scale.kept import Figure

_FLAGS = (
    *("-D", "remote.log.sync=1s", "-D", "remote.log.task-interval-duration=500ms"),
    *("-D", "kv.snapshot.interval=5s"),
)
_PATIENCE_S = 150


def restored(bed: Bed, ask: Callable[[], None]) -> Figure:
    """Seconds of the copies, of the restore, and until rows are there again."""
    place = Path(tempfile.mkdtemp(prefix="lakeward-scale-remote-"))
    try:
        bed.stop_server()
        begun = time.perf_counter()
        flags = (*_FLAGS, "-D", f"remote.data.dir={place}")
        bed.start_server(flags)
        bed.open()
        ask()
        _wait_until_copied(bed, place, time.time_ns() // 1_000_000)
        copied = time.perf_counter() - begun
        bed.stop_server(kill=True)
        data = bed.target.directory / "data"
        shutil.rmtree(data)
        begun = time.perf_counter()
        command = [sys.executable, "-m", "lakeward", "restore", "--from", str(place), "--data-dir", str(data)]
        subprocess.run([*command, "--take-over"], check=True, capture_output=True)
        done = time.perf_counter() - begun
        bed.start_server(flags)
        bed.open()
        ask()
        answered = time.perf_counter() - begun
        return {"s": done, "answered_s": answered, "copied_s": copied, "mb": bed.target.memory_mb()}
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _wait_until_copied(bed: Bed, place: Path, after_ms: int) -> None:
    give_up = time.monotonic() + _PATIENCE_S
    while time.monotonic() < give_up:
        behind = ("lakeward_remote_snapshots_waiting", "lakeward_remote_metadata_behind")
        if not any(_metric(bed, name) for name in behind):
            alive = place / "lakeward" / "alive.json"
            told = json.loads(alive.read_text()) if alive.exists() else {"at_ms": 0, "ends": None}
            if told["at_ms"] > after_ms and not told["ends"]:
                return
        time.sleep(0.2)
    raise RuntimeError(f"copies take too long: {(bed.target.directory / 'log').read_text()[-2000:]}")


def _metric(bed: Bed, name: str) -> float:
    with urllib.request.urlopen(f"http://{bed.target.bootstrap}/metrics") as answer:
        found = [line for line in answer.read().decode().splitlines() if line.split(" ")[0] == name]
    return float(found[0].rsplit(" ", 1)[1]) if found else 0.0
