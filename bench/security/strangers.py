"""Somebody who is in and asks every few milliseconds, while strangers do what they can."""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
import strangers
from besieged import Besieged

QUIET = "nothing beside it"
_PAUSE_S = 0.005
_QUIET_S = 5.0
_SEED = 18


@dataclass(frozen=True)
class Beside:
    """Milliseconds of the pings, in order; megabytes that the server has grown; how long it went on."""

    pings_ms: list[float]
    growth_mb: float
    seconds: float

    def share_ms(self, share: float) -> float:
        """The time under which a share of them was."""
        return self.pings_ms[min(len(self.pings_ms) - 1, int(len(self.pings_ms) * share))]


def measure(frames: int) -> dict[str, Beside]:
    """Each kind of stranger at one server, one after the other."""
    with tempfile.TemporaryDirectory(prefix="lakeward-besieged-") as directory:
        besieged = Besieged(Path(directory))
        try:
            found = {name: _beside(besieged, name, act) for name, act in _attacks(besieged, frames).items()}
            assert besieged.is_well(), besieged.server.log_text[-4000:]
        finally:
            besieged.stop()
    return found


def _attacks(besieged: Besieged, frames: int) -> dict[str, Callable[[], object]]:
    door, alice = besieged.door, ("alice", "alice-secret")
    crowd = max(50, frames // 500)
    return {
        QUIET: lambda: time.sleep(_QUIET_S),
        f"{frames:,} damaged frames before a login": lambda: strangers.frames_before_login(door, frames, _SEED),
        f"{frames:,} damaged frames after a login": lambda: strangers.frames_after_login(
            door, frames, _SEED, *alice, besieged.ids
        ),
        f"{crowd:,} logins that are half done": lambda: _half_done(besieged, crowd),
        f"{crowd:,} logins a byte at a time": lambda: strangers.slow_logins(door, crowd, 10),
        "a login each millisecond": lambda: strangers.logins_by_the_millisecond(door, frames // 50, _SEED),
        "what is no TLS": lambda: strangers.tls_garbage(besieged.safe_door, frames // 50, _SEED),
    }


def _half_done(besieged: Besieged, crowd: int) -> None:
    with strangers.half_done_logins(besieged.door, crowd):
        time.sleep(_QUIET_S)


def _beside(besieged: Besieged, name: str, act: Callable[[], object]) -> Beside:
    before, pings = besieged.server.memory_bytes, []
    peak = before
    attacker = multiprocessing.get_context("fork").Process(target=act)
    attacker.start()
    started = time.perf_counter()
    while attacker.is_alive():
        begun = time.perf_counter()
        besieged.ping()
        pings.append((time.perf_counter() - begun) * 1000)
        peak = max(peak, besieged.server.memory_bytes)
        time.sleep(_PAUSE_S)
    assert attacker.exitcode == 0, f"{name}: the attacker ended with {attacker.exitcode}"
    found = Beside(sorted(pings), (peak - before) / 1e6, time.perf_counter() - started)
    print(
        f"{name}: {found.seconds:.1f} s, ping p50 {found.share_ms(0.5):.1f}, p99 {found.share_ms(0.99):.1f} ms,"
        f" + {found.growth_mb:.1f} MB",
        flush=True,
    )
    return found
