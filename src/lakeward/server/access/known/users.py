"""Users: those whom `lakeward users` made, as their file has them now; a change holds from the next login on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from lakeward.errors import LakewardError
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.port import FileFacts, Files
from lakeward.runtime.scram import SALT_BYTES, ScramSecret
from lakeward.server.access.known.user_names import checked_name, checked_password
from lakeward.server.access.known.users_file import USERS_FILE, User, read_users, write_users

_log = logging.getLogger(__name__)


def new_user(password: str, entropy: Entropy, now_ms: int) -> User:
    """What is kept of a user with this password. Slow on purpose."""
    secret = ScramSecret.of(checked_password(password), entropy.token(SALT_BYTES))
    return User(secret, created_ms=now_ms, changed_ms=now_ms)


class Users:
    """The file of a data directory, looked at before each login. One that is damaged later is reported and left."""

    def __init__(self, disk: Files, directory: Path) -> None:
        self._disk = disk
        self._path = directory / USERS_FILE
        self._seen = self._facts()
        self._users = read_users(disk, self._path)
        self._untrusted: FileFacts | None = None
        #: How often who is known has changed.
        self.changes = 0
        self._listeners: list[Callable[[Mapping[str, User], Mapping[str, User]], None]] = []

    def on_change(self, listener: Callable[[Mapping[str, User], Mapping[str, User]], None]) -> None:
        """Hear of every change that is seen: the users before, and those after it."""
        self._listeners.append(listener)

    def __len__(self) -> int:
        return len(self._users)

    def secret_of(self, name: str) -> ScramSecret | None:
        """What is known of somebody's password; None for somebody who is not known."""
        user = self._users.get(name)
        return None if user is None else user.secret

    def make_first(self, name: str, password: str, entropy: Entropy, clock: Clock) -> bool:
        """Make a user unless there is a file of users already; whether it was made."""
        if self._seen is not None:
            return False
        write_users(self._disk, self._path, {checked_name(name): new_user(password, entropy, clock.now_ms())})
        self.look()
        return True

    def look(self, *, again: bool = False) -> bool:
        """Take what was changed; whether anything was. `again` also tries what could not be taken before."""
        seen = self._facts()
        is_known_to_be_bad = seen is not None and seen == self._untrusted
        if seen == self._seen or (is_known_to_be_bad and not again):
            return False
        before = self._users
        try:
            self._users = read_users(self._disk, self._path)
        except (LakewardError, OSError) as wrong:
            if not is_known_to_be_bad:
                _log.error("%s Until then those who were in it before are known", wrong)
            self._untrusted = seen
            return False
        self._seen, self._untrusted = seen, None
        self.changes += 1
        for listener in self._listeners:
            listener(before, self._users)
        return True

    def _facts(self) -> FileFacts | None:
        try:
            return self._disk.facts(self._path)
        except FileNotFoundError:
            return None
