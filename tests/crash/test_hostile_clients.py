"""A campaign of strangers: whatever they send, the server stays small, says little, and serves those who are in.

`STRANGER_FRAMES` says how many damaged frames there are before a login, and as many after; all else follows from it.
"""

from __future__ import annotations

import os
import random
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
import strangers
from besieged import LOGIN_S, Besieged
from eventually import eventually

FRAMES = int(os.environ.get("STRANGER_FRAMES", "4000"))
SEED = int(os.environ.get("STRANGER_SEED", str(random.SystemRandom().randrange(10**6))))
_CROWD = max(60, min(2000, FRAMES // 250))
_LOGINS = max(200, min(20_000, FRAMES // 25))
_MB = 1 << 20
_GROWTH_BYTES = 64 * _MB
_SPARE_FILES = 20


@pytest.fixture(scope="module")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    """One server stands it all."""
    print(f"STRANGER_SEED={SEED}")
    found = Besieged(tmp_path_factory.mktemp("besieged"))
    yield found
    assert found.stop() == 0
    assert found.is_well(), found.server.log_text[-4000:]


def stand(besieged: Besieged, *attacks: Callable[[], object]) -> None:
    """Let strangers do what they do; meanwhile others are served, and afterwards all is as it was."""
    memory, files = besieged.server.memory_bytes, besieged.server.open_files
    failed: list[BaseException] = []
    acting = [threading.Thread(target=_act, args=(one, failed)) for one in attacks]
    for one in acting:
        one.start()
    peak = 0
    while any(one.is_alive() for one in acting):
        besieged.ping()
        peak = max(peak, besieged.server.memory_bytes)
        acting[0].join(0.01)
    assert not failed, failed
    assert peak - memory < _GROWTH_BYTES, f"{peak / _MB:.0f} MB"
    assert eventually(lambda: besieged.server.open_files < files + _SPARE_FILES, within_s=30)
    assert besieged.is_well(), besieged.server.log_text[-4000:]


def _act(attack: Callable[[], object], failed: list[BaseException]) -> None:
    try:
        attack()
    except BaseException as wrong:  # noqa: BLE001 - told in the test's own thread
        failed.append(wrong)


def test_damaged_frames_of_strangers(besieged: Besieged) -> None:
    """None is obeyed, none does harm."""
    stand(
        besieged,
        lambda: strangers.frames_before_login(besieged.door, FRAMES // 2, SEED),
        lambda: strangers.frames_before_login(besieged.door, FRAMES // 2, SEED + 1),
    )


def test_damaged_frames_after_a_login(besieged: Besieged) -> None:
    """Whoever may do everything sends nonsense: each is refused or obeyed, none ends the server."""
    alice = ("alice", "alice-secret")
    stand(besieged, lambda: strangers.frames_after_login(besieged.door, FRAMES, SEED, *alice, besieged.ids))


def test_logins_that_are_never_finished(besieged: Besieged) -> None:
    """All are sent away, those who say a byte now and then, too."""
    with strangers.half_done_logins(besieged.door, _CROWD) as begun:
        stand(besieged, lambda: strangers.slow_logins(besieged.door, _CROWD, 3 * LOGIN_S))
        assert all(eventually(lambda one=one: _is_over(one), within_s=20) for one in begun)


def test_a_login_per_millisecond(besieged: Besieged) -> None:
    """Guesses take turns; a right password gets somebody in meanwhile."""
    stand(
        besieged,
        lambda: strangers.logins_by_the_millisecond(besieged.door, _LOGINS, SEED),
        lambda: besieged.come_in().close(),
    )


def test_what_is_no_tls(besieged: Besieged) -> None:
    """It ends the connection it came by, and nothing else."""
    stand(besieged, lambda: strangers.tls_garbage(besieged.safe_door, _LOGINS // 2, SEED))


def _is_over(client: socket.socket) -> bool:
    """Whether the server has hung up."""
    try:
        while client.recv(4096, socket.MSG_DONTWAIT):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        pass
    return True
