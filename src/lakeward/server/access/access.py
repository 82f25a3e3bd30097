"""Access: who may come in by which listener, put together from the options.

`AccessPlan.of` reads and checks them before anything is made; `Access` is what a running server asks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field

from lakeward.options import authentication as rows
from lakeward.options.authentication import ListenerProtocol, protocol_of
from lakeward.options.server import BIND_LISTENERS, MAX_CONNECTIONS_PER_ADDRESS
from lakeward.options.server_options import ServerOptions
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.port import Files
from lakeward.runtime.secret_text import SecretText
from lakeward.server.access.bounds.crowd import Crowd
from lakeward.server.access.bounds.failed_logins import FailedLogins
from lakeward.server.access.doorkeeper import Door, Doorkeeper, LoginReport
from lakeward.server.access.encryption.certificates import Certificates, tls_of
from lakeward.server.access.encryption.tls_door import TlsDoor
from lakeward.server.access.known.configured_users import configured_users, first_user
from lakeward.server.access.known.credentials import Credentials
from lakeward.server.access.known.hashing import Hashing
from lakeward.server.access.known.users import Users
from lakeward.server.access.logins import Logins
from lakeward.server.access.open_doors import warnings_of

_log = logging.getLogger(__name__)
_WHOLE_SUBJECT = "subject"


@dataclass(frozen=True, slots=True)
class AccessPlan:
    """What the options say, with secrets looked up; nothing has been made yet."""

    options: ServerOptions
    protocols: dict[str, ListenerProtocol]
    certificates: Certificates | None
    #: Listener → name → password.
    configured: dict[str, dict[str, str]] = field(repr=False)
    first_user: tuple[str, str] | None = field(repr=False)

    @classmethod
    def of(cls, options: ServerOptions, disk: Files) -> AccessPlan:
        """Check everything that can be checked; INVALID_CONFIG says what is wrong."""
        names = [listener.name for listener in options.get(BIND_LISTENERS)]
        protocols = {name: protocol_of(options.texts, name) for name in names}
        asking = [name for name, protocol in protocols.items() if protocol.asks_who]
        first, tls = options.get(rows.FIRST_USER), tls_of(options)
        return cls(
            options=options,
            protocols=protocols,
            certificates=None if tls is None else Certificates(tls, disk),
            configured={name: configured_users(options.texts, name) for name in asking},
            first_user=None if first is None else first_user(SecretText(rows.FIRST_USER.key, first)),
        )

    @property
    def asks_everybody(self) -> bool:
        """Whether every listener wants to know who comes, by a login or by a certificate."""
        shows = self.options.get(rows.TLS_CLIENT_AUTH) == "required"
        return all(one.asks_who or (one.encrypts and shows) for one in self.protocols.values())

    @property
    def warnings(self) -> list[str]:
        """What is to be said of listeners that are open."""
        shows = self.options.get(rows.TLS_CLIENT_AUTH) == "required"
        listeners = self.options.get(BIND_LISTENERS)
        return warnings_of(listeners, self.protocols, clients_show_certificates=shows)


class Access:
    """The doors of a running server."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        plan: AccessPlan,
        users: Users,
        thread: Executor,
        entropy: Entropy,
        connections_max: int,
        hear: Callable[[LoginReport], None],
    ) -> None:
        """`thread` is for what is slow on purpose; `hear` is told of every login."""
        self._loop = loop
        self._plan = plan
        self._hashing = Hashing(loop, thread)
        self._entropy = entropy
        options = plan.options
        self._timeout_s = options.get(rows.LOGIN_TIMEOUT) / 1000
        doors = {name: self._door(name, protocol, users) for name, protocol in plan.protocols.items()}
        self.crowd = Crowd(connections_max, options.get(MAX_CONNECTIONS_PER_ADDRESS))
        self.doorkeeper = Doorkeeper(
            loop,
            doors,
            users,
            FailedLogins(loop.time, options.get(rows.LOGIN_FAILURES), options.get(rows.LOGIN_FAILURE_PAUSE) / 1000),
            self._timeout_s,
            hear,
            whole_subjects=options.get(rows.TLS_PRINCIPAL) == _WHOLE_SUBJECT,
        )
        self._say_who_is_missing(doors)

    def _door(self, name: str, protocol: ListenerProtocol, users: Users) -> Door:
        if not protocol.asks_who:
            return Door(protocol)
        known = Credentials(users, self._plan.configured[name], self._hashing, self._entropy)
        mechanisms = self._plan.options.get(rows.SASL_MECHANISMS)
        return Door(protocol, Logins(mechanisms, known, self._entropy), known)

    def _say_who_is_missing(self, doors: dict[str, Door]) -> None:
        for name, door in doors.items():
            if door.credentials is not None and door.credentials.is_empty:
                _log.warning("nobody can log in on the listener %s yet; `lakeward users create` makes a user", name)

    def protocol_of(self, listener: str) -> str:
        """How clients of a listener come in, in one word."""
        return str(self._plan.protocols[listener].value)

    def tls_door(self, listener: str, new_connection: Callable[[], asyncio.BaseProtocol]) -> TlsDoor | None:
        """What accepts connections of a listener that encrypts; None for one that does not."""
        if not self._plan.protocols[listener].encrypts:
            return None
        assert self._plan.certificates is not None
        return TlsDoor(self._loop, self._plan.certificates.context, self.crowd, self._timeout_s, new_connection)

    def look(self) -> None:
        """Do what is due by the clock; call it every second or so."""
        self.doorkeeper.look()
        if self._plan.certificates is not None:
            self._plan.certificates.look()


def users_of(plan: AccessPlan, disk: Files, entropy: Entropy, clock: Clock) -> Users:
    """The users of a data directory; the first one is made where there is none yet."""
    users = Users(disk, disk.resolve(plan.options.data_dir()))
    if plan.first_user is not None and users.make_first(*plan.first_user, entropy, clock):
        _log.info("the first user, '%s', was made", plan.first_user[0])
    return users
