"""The last committed figures of the same kind of machine, and what is slower than they."""

from __future__ import annotations

import json
import platform
import re
from pathlib import Path

import psutil

FILE = Path(__file__).parents[2] / "docs" / "figures" / "bench.json"
#: More than this is said; runs differ by less on a quiet machine.
SLOWER = 1.2
#: Beside the figures: how busy the machine was when they were kept.
LOAD = "load of the machine"

Figures = dict[str, float]


def machine_kind() -> str:
    """Cores, memory and kind of CPU: figures of another kind are not compared."""
    memory_gb = psutil.virtual_memory().total / 2**30
    return f"{psutil.cpu_count()} cores, {memory_gb:.0f} GB, {_cpu()}"


def _cpu() -> str:
    try:
        found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1].strip() if found else platform.machine()


def last(machine: str, path: Path = FILE) -> Figures:
    """The committed figures of such a machine, by work; none if there was none."""
    if not path.exists():
        return {}
    found: Figures = json.loads(path.read_text()).get(machine, {})
    return found


def keep(machine: str, figures: Figures, path: Path = FILE) -> None:
    """Write figures for the next commit; those that were not measured now stay."""
    every = json.loads(path.read_text()) if path.exists() else {}
    every[machine] = every.get(machine, {}) | {work: float(f"{value:.4g}") for work, value in figures.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(every, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def is_slower(now: float, before: float, *, at_least: bool) -> bool:
    """Whether a figure is worse than the last one by more than a fifth."""
    return now * SLOWER < before if at_least else now > before * SLOWER
