"""SCRAM-SHA-256, both ends, without sockets: a password is proven and never sent (RFC 5802, RFC 7677).

    client                                             server
    ScramClient(name, password, nonce)
    .first()        n,,n=alice,r=…             ──▶     ClientFirst.read(…)          who wants to come
                                               ◀──     ServerFirst(…).message       r=… s=salt i=iterations
    .final(…)       c=biws,r=…,p=proof         ──▶     ServerFirst.check(…)         is it the one with the password?
    .check(…)                                  ◀──     v=signature                  is it a server that knows her?

A server keeps a `ScramSecret` per user, from which neither the password nor a proof can be made. What the other end
sends may be anything: every fault of it is an error 46 that quotes nothing.

`salted_key` costs what makes guessing slow, some milliseconds; it, and what calls it (`ScramSecret.of`, `.is_of`,
`ScramClient.final`), is for a thread beside the loop.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass, field

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.saslprep import prepared_text

MECHANISM = "SCRAM-SHA-256"
#: What RFC 7677 asks for at least.
ITERATIONS_MIN = 4096
#: About ten milliseconds of one core: little for who knows the password, much for who tries a dictionary.
ITERATIONS = 1 << 15
#: Some seconds of one core. A server that asks for more wants to keep its client busy.
ITERATIONS_MAX = 1 << 23
SALT_BYTES = 16
NONCE_BYTES = 18
MESSAGE_BYTES_MAX = 4096
_SALT_BYTES_MAX = 1024
_NONCE_CHARACTERS_MAX = 256
_HASH = "sha256"
_NONCE = re.compile(r"[\x21-\x2b\x2d-\x7e]+")
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")
_NO_BINDING = re.compile(r"([ny]),(?:a=([^,]+))?,")
_ESCAPED = re.compile(r"=(2C|3D)|=")


@dataclass(frozen=True, slots=True)
class ScramSecret:
    """What a server knows of a password: whether somebody has it, not what it is."""

    salt: bytes = field(repr=False)
    iterations: int
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)

    @classmethod
    def of(cls, password: str, salt: bytes, iterations: int = ITERATIONS) -> ScramSecret:
        """Of a password, with a salt that nobody else has. Slow on purpose."""
        root = salted_key(password, salt, iterations)
        return cls(salt, iterations, _digest(_mac(root, b"Client Key")), _mac(root, b"Server Key"))

    def is_of(self, password: str) -> bool:
        """Whether it was made of this password. Slow on purpose."""
        root = salted_key(password, self.salt, self.iterations)
        return hmac.compare_digest(_digest(_mac(root, b"Client Key")), self.stored_key)


@dataclass(frozen=True, slots=True)
class ScramKeys:
    """What a client makes of its password for one salt: with it one logs in wherever the secret is the same.

    A server that has the secret learns it from a proof, and can so ask another server in the name of the client.
    """

    salt: bytes = field(repr=False)
    iterations: int
    client_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)


def salted_key(password: str, salt: bytes, iterations: int) -> bytes:
    """A key made of a password, slowly; ValueError when it is no text that could have been typed."""
    return hashlib.pbkdf2_hmac(_HASH, prepared_text(password).encode(), salt, iterations)


def new_nonce(random: bytes) -> str:
    """A nonce of random bytes."""
    return base64.b64encode(random).decode()


# -- the client's end


class ScramClient:
    """One login; `first`, `final` and `check` follow each other."""

    def __init__(self, username: str, password: str | ScramKeys, nonce: str) -> None:
        """`nonce` is used once and cannot be guessed: `new_nonce(entropy.token(NONCE_BYTES))`."""
        self._password = password
        self._nonce = nonce
        try:
            self._bare = f"n={_escape(prepared_text(username))},r={nonce}"
        except ValueError as wrong:
            raise ErrorCode.AUTHENTICATE.error(f"The name of the user cannot be sent: {wrong}.") from None
        self._signature = b""

    def first(self) -> bytes:
        """The first message: who we are."""
        return f"n,,{self._bare}".encode()

    def final(self, server_first: bytes) -> bytes:
        """The second message: the proof, made for the server's challenge. Slow on purpose."""
        text = _text(server_first)
        nonce, salt, iterations = _read_server_first(text)
        if not nonce.startswith(self._nonce) or len(nonce) == len(self._nonce):
            raise _broken("its nonce is not an answer to ours")
        if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
            raise _broken(f"it asks for {iterations} iterations; {ITERATIONS_MIN} to {ITERATIONS_MAX} are safe")
        client_key, server_key = self._keys(salt, iterations)
        without_proof = f"c=biws,r={nonce}"
        said = f"{self._bare},{text},{without_proof}".encode()
        proof = _xor(client_key, _mac(_digest(client_key), said))
        self._signature = _mac(server_key, said)
        return f"{without_proof},p={_base64(proof)}".encode()

    def _keys(self, salt: bytes, iterations: int) -> tuple[bytes, bytes]:
        if isinstance(self._password, ScramKeys):
            if (self._password.salt, self._password.iterations) != (salt, iterations):
                raise ErrorCode.AUTHENTICATE.error("The password was changed since it was proven.")
            return self._password.client_key, self._password.server_key
        try:
            root = salted_key(self._password, salt, iterations)
        except ValueError as wrong:
            raise ErrorCode.AUTHENTICATE.error(f"The password cannot be sent: {wrong}.") from None
        return _mac(root, b"Client Key"), _mac(root, b"Server Key")

    def check(self, server_final: bytes) -> None:
        """Raise unless the server, too, has shown that it knows the user."""
        signature = _attributes(_text(server_final)).get("v")
        if not self._signature or signature is None:
            raise _broken("it did not show who it is")
        if not hmac.compare_digest(_unbase64(signature), self._signature):
            raise _broken("it does not know the password that it asked for, so it is another server")


# -- the server's end


@dataclass(frozen=True, slots=True)
class ClientFirst:
    """What a client said first: who it wants to be. `header` and `bare` are the two parts of the text."""

    username: str
    nonce: str
    header: str
    bare: str

    @classmethod
    def read(cls, message: bytes, username: str | None = None) -> ClientFirst:
        """Of the bytes of a message; a `username` that was said elsewhere counts instead of the one in it."""
        text = _text(message)
        header = _NO_BINDING.match(text)
        if header is None:
            raise _broken("it asks for a binding to the channel, or is no first message")
        bare = text[header.end() :]
        said = _attributes(bare)
        if list(said)[:2] != ["n", "r"]:
            raise _broken("it must say name and nonce, in this order")
        if username is None:
            username = _unescape(said["n"])
        if header[2] is not None and _unescape(header[2]) != username:
            raise _broken("nobody may come in the name of somebody else")
        return cls(username, _checked_nonce(said["r"]), header[0], bare)


@dataclass(frozen=True, slots=True)
class ServerFirst:
    """What the server said to that: with which salt, and how slowly, the password is to be hashed."""

    client: ClientFirst
    nonce: str
    salt: bytes = field(repr=False)
    iterations: int

    @property
    def message(self) -> bytes:
        """The bytes of it; the nonce is the client's with ours behind."""
        return f"r={self.client.nonce}{self.nonce},s={_base64(self.salt)},i={self.iterations}".encode()

    def check(self, client_final: bytes, secret: ScramSecret) -> bytes:
        """The last message, for a client that has proven to know the password; any other is refused."""
        return self.proven(client_final, secret)[0]

    def proven(self, client_final: bytes, secret: ScramSecret) -> tuple[bytes, ScramKeys]:
        """The same, and the keys that the proof was made with."""
        text = _text(client_final)
        without_proof, found, proof = text.rpartition(",p=")
        said = _attributes(without_proof)
        if not found or list(said)[:2] != ["c", "r"]:
            raise _broken("it must say binding, nonce and proof, in this order")
        is_ours = said["r"] == self.client.nonce + self.nonce
        if not is_ours or _unbase64(said["c"]) != self.client.header.encode():
            raise _broken("it belongs to another login")
        spoken = b",".join((self.client.bare.encode(), self.message, without_proof.encode()))
        client_key = _xor(_unbase64(proof), _mac(secret.stored_key, spoken))
        if not hmac.compare_digest(_digest(client_key), secret.stored_key):
            raise ErrorCode.AUTHENTICATE.error()
        keys = ScramKeys(secret.salt, secret.iterations, client_key, secret.server_key)
        return f"v={_base64(_mac(secret.server_key, spoken))}".encode(), keys


# -- text


def _read_server_first(text: str) -> tuple[str, bytes, int]:
    said = _attributes(text)
    if list(said)[:3] != ["r", "s", "i"] or _NUMBER.fullmatch(said["i"]) is None:
        raise _broken("it must say nonce, salt and iterations, in this order")
    salt = _unbase64(said["s"])
    if not 0 < len(salt) <= _SALT_BYTES_MAX:
        raise _broken("its salt has no size that a salt has")
    return _checked_nonce(said["r"]), salt, int(said["i"])


def _checked_nonce(nonce: str) -> str:
    if len(nonce) > _NONCE_CHARACTERS_MAX or _NONCE.fullmatch(nonce) is None:
        raise _broken("its nonce is too long, or has characters that no nonce has")
    return nonce


def _text(message: bytes) -> str:
    if len(message) > MESSAGE_BYTES_MAX:
        raise _broken(f"it has more than {MESSAGE_BYTES_MAX} bytes")
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise _broken("it is no text") from None


def _attributes(text: str) -> dict[str, str]:
    """The attributes of a message in their order; none comes twice, and `m` is one that nobody understands."""
    said: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if len(name) != 1 or not name.isalpha() or not equals or name in said or name == "m":
            raise _broken("its attributes cannot be read")
        said[name] = value
    return said


def _escape(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def _unescape(text: str) -> str:
    if not text or any(found[1] is None for found in _ESCAPED.finditer(text)):
        raise _broken("its name of the user cannot be read")
    return text.replace("=2C", ",").replace("=3D", "=")


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _unbase64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _broken("it has a value that is not base64") from None


def _broken(what: str) -> LakewardError:
    return ErrorCode.AUTHENTICATE.error(f"A message of {MECHANISM} was refused: {what}.")


# -- bytes


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, _HASH)


def _digest(value: bytes) -> bytes:
    return hashlib.sha256(value).digest()


def _xor(left: bytes, right: bytes) -> bytes:
    if len(left) != len(right):
        raise _broken("its proof has not the size of a proof")
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
