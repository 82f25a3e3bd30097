"""Whether a password is somebody's."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.access.known.credentials import Credentials
from lakeward.server.access.known.hashing import Hashing
from lakeward.server.access.known.users import Users, new_user
from lakeward.server.access.known.users_file import USERS_FILE, write_users


class CountingThread(ThreadPoolExecutor):
    """Counts what it is given."""

    def __init__(self) -> None:
        super().__init__(1)
        self.count = 0

    def submit(self, *work: Any, **more: Any) -> Any:
        """One more."""
        self.count += 1
        return super().submit(*work, **more)


@pytest.fixture
def thread() -> Iterator[CountingThread]:
    """For what is slow."""
    with CountingThread() as made:
        yield made


def known(directory: Path, thread: Executor, **configured: str) -> Credentials:
    """Credentials of a listener."""
    hashing = Hashing(asyncio.get_running_loop(), thread)
    return Credentials(Users(LocalFiles(), directory), configured, hashing, SeededEntropy(1))


async def walk(steps: Generator[Any, None, Any]) -> Any:
    """What steps lead to."""
    try:
        while True:
            await next(steps)
    except StopIteration as end:
        return end.value


def write(directory: Path, **passwords: str) -> None:
    """What `lakeward users` does."""
    users = {name: new_user(password, SeededEntropy(2), 1) for name, password in passwords.items()}
    write_users(LocalFiles(), directory / USERS_FILE, users)


async def test_users_of_the_file_come_before_those_of_options(tmp_path: Path, thread: CountingThread) -> None:
    """A password that was changed by command is not undone by a configuration."""
    write(tmp_path, alice="of the file")
    credentials = known(tmp_path, thread, alice="of options", bob="of options")
    assert await walk(credentials.is_right("alice", "of the file"))
    assert not await walk(credentials.is_right("alice", "of options"))
    assert await walk(credentials.is_right("bob", "of options"))
    assert not await walk(credentials.is_right("carol", "of options"))
    write(tmp_path)
    assert await walk(credentials.is_right("alice", "of options"))


async def test_a_right_password_is_slow_once(tmp_path: Path, thread: CountingThread) -> None:
    """The next connection of a client costs nothing; a wrong one costs each time, known or not."""
    write(tmp_path, alice="hush hush")
    credentials = known(tmp_path, thread)
    for _ in range(5):
        assert await walk(credentials.is_right("alice", "hush hush"))
    assert thread.count == 1
    for name in ("alice", "nobody"):
        for _ in range(2):
            assert not await walk(credentials.is_right(name, "guess"))
    assert thread.count == 5
    write(tmp_path, alice="other one")
    assert not await walk(credentials.is_right("alice", "hush hush"))


async def test_a_decoy_looks_like_a_user_and_opens_nothing(tmp_path: Path, thread: CountingThread) -> None:
    """The same for the same name, another for another."""
    credentials = known(tmp_path, thread)
    assert credentials.is_empty
    assert credentials.decoy("a") == credentials.decoy("a")
    assert credentials.decoy("a").salt != credentials.decoy("b").salt
    assert not credentials.decoy("a").is_of("")


async def test_only_so_much_waits_to_be_hashed(thread: CountingThread) -> None:
    """Who comes behind is told to try again, and nothing is forgotten of what was begun."""
    hashing = Hashing(asyncio.get_running_loop(), thread)
    begun = [hashing.begin(lambda: 1) for _ in range(100)]
    with pytest.raises(LakewardError) as refused:
        hashing.begin(lambda: 1)
    assert refused.value.code is ErrorCode.RETRIABLE_AUTHENTICATE
    assert await asyncio.gather(*begun) == [1] * 100
    await asyncio.sleep(0)
    assert await hashing.begin(lambda: 2) == 2
