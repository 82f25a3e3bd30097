"""Doors: what a server takes from the world: time, randomness, files, threads.

Nothing else in this package asks the machine for them, so a whole server runs from a seed when its doors do.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

from lakeward.runtime.clock import Clock, SystemClock
from lakeward.runtime.entropy import Entropy, SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.port import Files
from lakeward.runtime.process.usage import Usage, usage_now


@dataclass(frozen=True, slots=True)
class Doors:
    """The loop is the one that runs."""

    clock: Clock
    entropy: Entropy
    files: Files
    #: So many threads, under a name; work that is given to one thread is done in order.
    threads: Callable[[int, str], Executor]
    #: What this process takes of the machine.
    usage: Callable[[], Usage] = Usage

    @classmethod
    def of_this_machine(cls) -> Doors:
        """The system's clock, its randomness, its disk, real threads."""
        return cls(SystemClock(), SystemEntropy(), LocalFiles(), ThreadPoolExecutor, usage_now)
