"""Accounts: who may come in, and as whom the cluster is then asked. The cluster decides both.

Everybody who logs in has the rights of their own user there: questions go through a connection that has logged in as
that user. People of the same name share one, and with it what it remembers of the lake.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from lakeward.client.blocking.sync import Connection
from lakeward.client.cluster.loop_thread import LoopThread
from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import DeniedError, ErrorCode
from lakeward.options import client as rows
from lakeward.options.secrets import is_reference
from lakeward.query.door import DuckEngine
from lakeward.rpc.login import Login
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.scram import MECHANISM, ScramKeys
from lakeward.runtime.secret_text import SecretText

#: Connections of users that are kept while nobody uses them.
_IDLE_MAX = 64
_IDLE_S = 600.0
#: A person waits, so give up sooner than a program would.
_PATIENCE = {rows.CONNECT_TIMEOUT.key: "5 s", rows.REQUEST_TIMEOUT.key: "20 s"}


@dataclass(slots=True, eq=False)
class Member:
    """Somebody who is let in, and their connection; `name` is empty for nobody in particular."""

    name: str
    conn: Connection
    seal: bytes
    users: int = 0
    used_s: float = 0.0


class Accounts:
    """Logins and the connections behind them. Blocks; safe to share between threads."""

    def __init__(
        self, bootstrap: str, options: Mapping[str, str], lake: Mapping[str, str], clock: Clock, entropy: Entropy
    ) -> None:
        self._bootstrap = bootstrap
        self._options = {**_PATIENCE, **options}
        self._lake = dict(lake)
        self._clock = clock
        self._key = entropy.token(32)
        self._loop = LoopThread("lakeward-sql-server")
        self._lock = Lock()
        self._members: dict[str, Member] = {}
        #: Those in use who came by a password that is another by now; nobody finds them by their name.
        self._former: set[Member] = set()

    @property
    def lends_login(self) -> bool:
        """Whether everybody is the user that this server was started with."""
        return rows.SASL_USERNAME.key in self._options or rows.SASL_JAAS.key in self._options

    def asks_login(self) -> bool:
        """Whether the cluster wants to know who somebody is, and this server was not told either."""
        if self.lends_login or "" in self._members:
            return False
        try:
            self.leave(self.guest())
        except DeniedError:
            return True
        return False

    def guest(self) -> Member:
        """Somebody who did not say who they are; DeniedError where the cluster asks."""
        return self._enter("", b"", {})

    def log_in(self, user: str, password: str) -> Member:
        """Somebody by name and password; AUTHENTICATE if the cluster says no."""
        # What people type is never taken for a place to look a secret up.
        if not user or is_reference(user) or is_reference(password):
            raise ErrorCode.AUTHENTICATE.error("Names and passwords that begin like a reference are not taken here.")
        seal = hmac.digest(self._key, f"{user}\0{password}".encode(), "sha256")
        return self._enter(user, seal, {rows.SASL_USERNAME.key: user, rows.SASL_PASSWORD.key: password})

    def log_in_proven(self, user: str, keys: ScramKeys) -> Member:
        """Somebody who has proven a password to us; the cluster is shown the same proof."""
        seal = hmac.digest(self._key, user.encode() + b"\0" + keys.client_key, "sha256")
        return self._enter(user, seal, {}, Login(MECHANISM, user, SecretText("password", ""), keys))

    def again(self, member: Member) -> Member:
        """The same person once more, who has shown before who they are."""
        with self._lock:
            member.users += 1
            return member

    def leave(self, member: Member) -> None:
        """Somebody has gone; their connection is kept for a while."""
        with self._lock:
            member.users -= 1
            member.used_s = self._clock.monotonic()
            gone = self._take_outdated()
            if not member.users and member in self._former:
                self._former.discard(member)
                gone.append(member)
        for one in gone:
            self._close(one.conn)

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            members = [*self._members.values(), *self._former]
            self._members.clear()
            self._former.clear()
        for member in members:
            self._close(member.conn)
        self._loop.close()

    def _enter(self, name: str, seal: bytes, more: Mapping[str, str], login: Login | None = None) -> Member:
        if not name:
            with self._lock:
                found = self._members.get("")
                if found is not None:
                    found.users += 1
                    return found
        # Each login is shown to the cluster, whoever is here already: a password that was changed is the new one.
        conn = self._connect(more, login)
        with self._lock:
            found = self._members.get(name)
            is_same = found is not None and hmac.compare_digest(found.seal, seal)
            idle = conn if is_same else None
            if found is None or not is_same:
                if found is not None and found.users:
                    self._former.add(found)
                elif found is not None:
                    idle = found.conn
                found = self._members[name] = Member(name, conn, seal)
            found.users += 1
        if idle is not None:
            self._close(idle)
        return found

    def _connect(self, more: Mapping[str, str], login: Login | None) -> Connection:
        options: dict[str, Any] = {**self._options, **more, "lake": self._lake}
        opened = self._loop.run(AsyncConnection.open(self._bootstrap, DuckEngine(), options, login))
        return Connection(self._loop, opened)

    def _take_outdated(self) -> list[Member]:
        """Members that nobody is any more, taken out; the longest unused first where there are many."""
        now = self._clock.monotonic()
        idle = sorted((m for m in self._members.values() if not m.users), key=lambda m: m.used_s)
        gone = [m for m in idle if now - m.used_s > _IDLE_S or len(idle) - idle.index(m) > _IDLE_MAX]
        for member in gone:
            del self._members[member.name]
        return gone

    def _close(self, conn: Connection) -> None:
        self._loop.run(conn.inner.close())
