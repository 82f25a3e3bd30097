"""How a client comes in: encrypted or not, as whom, and with which proof. Cancel requests come the same way."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from lakeward.errors import DeniedError, ErrorCode
from lakeward.sql_server.access.accounts import Accounts, Member
from lakeward.sql_server.access.guesses import Guesses
from lakeward.sql_server.access.proofs import Exchange, Proofs, Proven
from lakeward.sql_server.postgres.codec import messages as m
from lakeward.sql_server.postgres.states import StateError
from lakeward.sql_server.postgres.wire import STARTUP_BYTES_MAX, Wire

#: A password that is sent needs no more, a proof neither.
_ANSWER_BYTES_MAX = 8192
_SASL = "SCRAM-SHA-256"


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Somebody who was let in, and what they asked for when they came."""

    member: Member
    options: dict[str, str]

    @property
    def user(self) -> str:
        """The name that they gave."""
        return self.options.get("user", "")

    @property
    def database(self) -> str:
        """The database that they named, or their own name, as Postgres has it."""
        return self.options.get("database") or self.user


class Startup:
    """Lets clients in, one at a time for each call; `cancel` is what a cancel request comes to."""

    def __init__(
        self,
        accounts: Accounts,
        proofs: Proofs | None,
        guesses: Guesses,
        context: ssl.SSLContext | None,
        is_local: bool,
        cancel: Callable[[int, int], None],
    ) -> None:
        self._accounts = accounts
        self._proofs = proofs
        self._guesses = guesses
        self._context = context
        self._is_local = is_local
        self._cancel = cancel

    async def let_in(self, wire: Wire) -> Newcomer | None:
        """Whoever comes; None for one that only wanted to cancel something."""
        while True:
            code, body = await wire.first()
            if code == m.SSL_REQUEST and self._context is not None and not wire.is_encrypted:
                await wire.encrypt(self._context)
            elif code in {m.SSL_REQUEST, m.GSS_REQUEST}:
                await wire.send(b"N")
            elif code == m.CANCEL_REQUEST:
                self._cancel(body.number() & 0xFFFFFFFF, body.number() & 0xFFFFFFFF)
                return None
            elif code >> 16 == 3:
                return await self._begin(wire, code, m.startup_options(body))
            else:
                raise m.ProtocolError("this is no version of the protocol that is spoken here")

    async def _begin(self, wire: Wire, code: int, options: dict[str, str]) -> Newcomer:
        unknown = [name for name in options if name.startswith("_pq_.")]
        if code != m.PROTOCOL_3 or unknown:
            await wire.send(m.negotiate(unknown))
        user = options.get("user", "")
        if not user:
            raise StateError("28000", "no PostgreSQL user name specified in startup packet")
        if self._context is not None and not wire.is_encrypted and not self._is_local:
            raise StateError("28000", "This server is reached by TLS alone; set sslmode=require.")
        member = await self._member(wire, user)
        await wire.send(m.authentication(0))
        return Newcomer(member, options)

    async def _member(self, wire: Wire, user: str) -> Member:
        if not await asyncio.to_thread(self._accounts.asks_login):
            return await asyncio.to_thread(self._accounts.guest)
        try:
            if self._proofs is not None:
                return await self._by_proof(wire, user, self._proofs)
            return await self._by_password(wire, user)
        except DeniedError as wrong:
            if wrong.code is not ErrorCode.AUTHENTICATE:
                raise
            await self._guesses.pause(wire.address)
            raise StateError("28P01", f'password authentication failed for user "{user}"') from wrong

    async def _by_password(self, wire: Wire, user: str) -> Member:
        if not wire.is_encrypted and not self._is_local:
            raise StateError(
                "28000",
                "Passwords are not taken in plain text from other machines: this server has no certificate.",
                "Start it with --certificate, or with --users-from so that passwords are proven instead of sent.",
            )
        await wire.send(m.authentication(3))
        answer = await wire.next(_ANSWER_BYTES_MAX)
        if answer.letter != "p":
            raise m.ProtocolError("a password was asked for")
        return await asyncio.to_thread(self._accounts.log_in, user, answer.body.text())

    async def _by_proof(self, wire: Wire, user: str, proofs: Proofs) -> Member:
        await wire.send(m.authentication(10, m.text(_SASL) + b"\0"))
        first = await wire.next(STARTUP_BYTES_MAX)
        if first.letter != "p" or first.body.text() != _SASL:
            raise m.ProtocolError(f"{_SASL} was asked for")
        size = first.body.number()
        self._guesses.check(wire.address)
        exchange = await asyncio.to_thread(proofs.begin, user, first.body.take(size))
        await wire.send(m.authentication(11, exchange.challenge))
        final = await wire.next(STARTUP_BYTES_MAX)
        if final.letter != "p":
            raise m.ProtocolError("a proof was asked for")
        proven = self._check_proof(wire.address, exchange, final.body.data)
        member = await asyncio.to_thread(self._accounts.log_in_proven, user, proven.keys)
        await wire.send(m.authentication(12, proven.answer))
        return member

    def _check_proof(self, address: str, exchange: Exchange, proof: bytes) -> Proven:
        """What a right proof comes to. Looked at and counted in one go: many at once are not more than one by one."""
        self._guesses.check(address)
        try:
            return exchange.check(proof)
        except DeniedError:
            self._guesses.add(address)
            raise
