"""Login: who a client is, and how it shows that: SASL PLAIN, or SCRAM-SHA-256, which sends no password."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lakeward.errors import ErrorCode
from lakeward.options.authentication import PLAIN
from lakeward.runtime import scram
from lakeward.runtime.entropy import Entropy, SystemEntropy
from lakeward.runtime.secret_text import SecretText

#: What a mechanism needs of a connection: a token goes to the server, its challenge comes back.
Say = Callable[[bytes], Awaitable[bytes | None]]


@dataclass(frozen=True, slots=True)
class Login:
    """A user, a password or where it is kept, and PLAIN or SCRAM; `keys` stand for a password not known here."""

    mechanism: str
    user: str
    password: SecretText
    keys: scram.ScramKeys | None = None

    async def prove(self, say: Say, entropy: Entropy | None = None) -> None:
        """Convince a server, which answers with challenges or with an error; AUTHENTICATE if it is not the right one.

        The password is looked up now, so that one that was changed meanwhile is taken as it is.
        """
        password: str | scram.ScramKeys = self.keys or self.password.reveal()
        if self.mechanism == PLAIN and isinstance(password, str):
            await say(_plain_token(self.user, password))  # an empty challenge is Apache Fluss's way to say yes
            return
        nonce = scram.new_nonce((entropy or SystemEntropy()).token(scram.NONCE_BYTES))
        exchange = scram.ScramClient(self.user, password, nonce)
        challenge = await say(exchange.first())
        proof = await asyncio.to_thread(exchange.final, challenge or b"")  # slow on purpose
        exchange.check(await say(proof) or b"")


def _plain_token(user: str, password: str) -> bytes:
    if "\0" in user + password:
        raise ErrorCode.AUTHENTICATE.error(f"{PLAIN} can send no name and no password with a NUL character in it.")
    return f"\0{user}\0{password}".encode()
