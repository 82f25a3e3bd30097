"""Servers to measure: started, their CPU and memory read, stopped."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from lakeward.runtime.process.child import Child

_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")
_LISTENER = re.compile(r"([^\s=]+:\d+) \((\w+), \w+\)")


@dataclass
class Target:
    """A running server."""

    name: str
    bootstrap: str
    processes: list[psutil.Process]
    start_s: float
    directory: Path
    stop_command: list[str] = field(default_factory=list)
    #: Where clients of each listener come in, if there are several.
    listeners: dict[str, str] = field(default_factory=dict)

    def cpu_s(self) -> float:
        """CPU seconds used so far, all processes together."""
        times = [p.cpu_times() for p in self.processes]
        return sum(t.user + t.system for t in times)

    def memory_mb(self) -> float:
        """Resident memory, all processes together."""
        return sum(p.memory_info().rss for p in self.processes) / 1e6

    def memory_peak_mb(self) -> float:
        """The most that was ever resident, all processes together."""
        peaks = (_PEAK.search(Path(f"/proc/{p.pid}/status").read_text()) for p in self.processes)
        return sum(int(peak[1]) for peak in peaks if peak) * 1024 / 1e6

    def stop(self) -> None:
        """End it and remove its data."""
        self.end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def end(self) -> None:
        """End it; its data stays."""
        for process in self.processes:
            with contextlib.suppress(psutil.NoSuchProcess):  # it may have ended by itself
                process.terminate()
        psutil.wait_procs(self.processes, timeout=10)
        for process in self.processes:
            if process.is_running():
                process.kill()


def lakeward(options: tuple[str, ...] = ()) -> Target:
    """Our server on a free port."""
    return _lakeward(Path(tempfile.mkdtemp(prefix="lakeward-bench-")), options)


def lakeward_in(directory: Path, options: tuple[str, ...] = ()) -> Target:
    """Our server in a directory of the caller's, on the data that is there."""
    return _lakeward(directory, options)


def lakeward_again(before: Target, options: tuple[str, ...] = ()) -> Target:
    """Our server on the data of one that has ended."""
    return _lakeward(before.directory, options)


def _lakeward(directory: Path, options: tuple[str, ...]) -> Target:
    begun = time.perf_counter()
    command = [sys.executable, "-m", "lakeward", "serve", "--data-dir", str(directory / "data"), *options]
    if not any(option.startswith("bind.listeners=") for option in options):
        command += ["--port", "0"]
    process = Child(command, stdout=subprocess.PIPE, stderr=(directory / "log").open("w"), text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    if "bootstrap.servers=" not in line:
        raise RuntimeError(f"lakeward did not start: {(directory / 'log').read_text()}")
    bootstrap = line.split("bootstrap.servers=")[1].split()[0]
    start_s = time.perf_counter() - begun
    listeners = {name: address for address, name in _LISTENER.findall(line)}
    return Target("Lakeward", bootstrap, [psutil.Process(process.pid)], start_s, directory, listeners=listeners)


def warm_memory(megabytes: int = 3000) -> None:
    """Touch memory once. On a virtual machine the first use of a page is up to ten times slower than the second,
    which would be charged to whoever runs first."""
    with tempfile.NamedTemporaryFile(dir=tempfile.gettempdir()) as file:
        piece = os.urandom(1 << 20)
        for _ in range(megabytes):
            file.write(piece)
