"""What strangers who mean harm may send to a server that asks who they are; loopback alone, bounded in count and time.

Loopback has many addresses, so each kind of stranger comes from one of its own, as on a real network: a server slows
down addresses from which wrong passwords come.
"""

from __future__ import annotations

import contextlib
import random
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from typing import NamedTuple

from arrow_batches import ids_batch
from logins import plain_token
from rights_cases import CASES, TableIds
from wire_client import HELLO

from lakeward.protocol.api import Api
from lakeward.protocol.codec import encode
from lakeward.protocol.messages.auth import AuthenticateRequest
from lakeward.protocol.messages.log import PbProduceLogReqForBucket, ProduceLogRequest
from lakeward.runtime.scram import MECHANISM

#: A stranger is sent away after a hundred requests; so many are read before.
_BEFORE_LOGIN = 80
_AFTER_LOGIN = 400
_LOGIN_SHARE = 0.2
#: A crowd may keep the sender's own login waiting; then its frames are not read, and are sent again.
_PATIENCE = 5
_ANSWERED_S = 60.0
_HEADER = struct.Struct(">ihhi")
_MARK = 0x7EEE_EEEE
_SCRAM_FIRST = AuthenticateRequest(protocol=MECHANISM, token=b"n,,n=alice,r=fyko+d2lbbFgONRv9qkxdawL")
#: What would change how much somebody may ask for, the sender of such requests included.
_LEFT_OUT = {Api.ALTER_CLUSTER_CONFIGS, Api.DROP_ACLS, Api.AUTHENTICATE}


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int

    @classmethod
    def of(cls, bootstrap: str) -> Address:
        """An address written as host:port; strangers come by IPv4."""
        return cls("127.0.0.1", int(bootstrap.rsplit(":", 1)[1]))


def come(address: Address, number: int = 2) -> socket.socket:
    """A connection from one of loopback's addresses."""
    return socket.create_connection(address, _ANSWERED_S, source_address=(f"127.0.0.{2 + number % 250}", 0))


def frame(api_key: int, body: bytes, request_id: int = 1, version: int = 0) -> bytes:
    """A request."""
    return _HEADER.pack(8 + len(body), api_key, version, request_id) + body


def request_bodies(ids: TableIds) -> list[tuple[int, bytes]]:
    """A good request for every API, to be damaged; rows twice, as they have most places to be wrong."""
    found = [(api.value, encode(case.request(ids))) for api, case in CASES.items() if api not in _LEFT_OUT]
    rows = PbProduceLogReqForBucket(bucket_id=0, records=bytes(ids_batch([1, 2, 3])))
    produced = ProduceLogRequest(acks=-1, table_id=ids.orders, timeout_ms=1000, buckets_req=(rows,))
    return [*found, *[(Api.PRODUCE_LOG.value, encode(produced))] * 2]


def mutated(chance: random.Random, data: bytes) -> bytes:
    """The same with some bytes that are others, gone, or twice there."""
    damaged = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(damaged) + 1)
        match chance.randrange(4):
            case 0 if place < len(damaged):
                damaged[place] = chance.randrange(256)
            case 1:
                del damaged[place : place + chance.randint(1, 8)]
            case 2:
                damaged[place:place] = chance.randbytes(chance.randint(1, 40))
            case _:
                damaged += damaged[place:]
    return bytes(damaged)


def mutated_frame(chance: random.Random, bodies: list[tuple[int, bytes]]) -> bytes:
    """A request whose length is right and little else: the server reads it, and goes on to the next."""
    key, body = chance.choice(bodies)
    if chance.random() < 0.1:
        key = chance.randrange(-(2**15), 2**15)
    version = 0 if chance.random() < 0.8 else chance.randrange(-(2**15), 2**15)
    return frame(key, mutated(chance, body), chance.randrange(_MARK), version)


def _wrong_length(chance: random.Random, data: bytes) -> bytes:
    """The last words of a connection: a length that is not the frame's."""
    return struct.pack(">i", chance.choice([-1, 0, 7, 2**31 - 1, chance.randrange(2**31), len(data) * 2])) + data[4:]


# -- damaged frames


def frames_before_login(address: Address, count: int, seed: int) -> int:
    """Damaged requests of strangers; how many the server has read."""
    chance = random.Random(seed)
    bodies = request_bodies(TableIds(1, 2))
    logins = [(Api.AUTHENTICATE.value, encode(one)) for one in (_SCRAM_FIRST, plain_token("alice", "guess"))]
    read = sent = 0
    while read < count:
        assert sent <= _PATIENCE * count + _BEFORE_LOGIN, f"{read} of {sent} were read"
        batch = [mutated_frame(chance, bodies) for _ in range(_BEFORE_LOGIN)]
        sent += len(batch)
        with come(address, seed) as client:
            read += len(batch) * _reads(client, b"".join(batch))
            last = mutated_frame(chance, logins) if chance.random() < _LOGIN_SHARE else b""
            _say_and_go(client, last + _wrong_length(chance, batch[-1]))
    return read


def frames_after_login(address: Address, count: int, seed: int, user: str, password: str, ids: TableIds) -> int:
    """Damaged requests of somebody who has logged in; how many the server has read."""
    chance = random.Random(seed)
    login = frame(Api.AUTHENTICATE.value, encode(plain_token(user, password)))
    bodies = request_bodies(ids)
    read = sent = 0
    while read < count:
        assert sent <= _PATIENCE * count + _AFTER_LOGIN, f"{read} of {sent} were read"
        batch = [mutated_frame(chance, bodies) for _ in range(_AFTER_LOGIN)]
        sent += len(batch)
        with come(address, seed) as client:
            read += len(batch) * _reads(client, login + b"".join(batch))
            _say_and_go(client, _wrong_length(chance, batch[-1]))
    return read


def _reads(client: socket.socket, data: bytes) -> bool:
    """Whether the server reads it all: whether it answers what was asked behind it."""
    answered, tail = struct.pack(">i", _MARK), b""
    with contextlib.suppress(ConnectionError):
        client.sendall(data + frame(Api.API_VERSIONS.value, encode(HELLO), _MARK))
        while piece := client.recv(1 << 16):
            if answered in tail + piece:
                return True
            tail = piece[-4:]
    return False


def _say_and_go(client: socket.socket, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        client.sendall(data)


# -- logins


@contextlib.contextmanager
def half_done_logins(address: Address, count: int) -> Iterator[list[socket.socket]]:
    """Strangers who begin a login and say no more: nothing at all, half a frame, a first message."""
    hello, scram = frame(Api.API_VERSIONS.value, encode(HELLO)), frame(Api.AUTHENTICATE.value, encode(_SCRAM_FIRST))
    beginnings = (b"", hello, hello + scram[:10], hello + scram)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(come(address, 100 + n % 16)) for n in range(count)]
        for number, client in enumerate(clients):
            client.sendall(beginnings[number % len(beginnings)])
        yield clients


def slow_logins(address: Address, count: int, seconds: float) -> int:
    """Strangers who send a byte of a login now and then; how many were sent away for it."""
    data = frame(Api.AUTHENTICATE.value, encode(_SCRAM_FIRST))
    end = time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(come(address, 120 + n % 16)) for n in range(count)]
        away: set[int] = set()
        for place in range(len(data) - 1):
            for number, client in enumerate(clients):
                try:
                    client.sendall(data[place : place + 1])
                except ConnectionError:
                    away.add(number)
            if time.monotonic() > end or len(away) == count:
                break
            time.sleep(0.1)
    return len(away)


def logins_by_the_millisecond(address: Address, count: int, seed: int) -> int:
    """A login each millisecond or as often as this machine can, most of them wrong, from many addresses."""
    begun = time.monotonic()
    chance = random.Random(seed)
    for number in range(count):
        token = plain_token(chance.choice(["alice", "bob", "x" * 200]), f"guess {number}")
        with contextlib.suppress(OSError), come(address, 140 + number % 64) as client:
            client.sendall(frame(Api.AUTHENTICATE.value, encode(token if number % 3 else _SCRAM_FIRST)))
        time.sleep(max(0.0, begun + number / 1000 - time.monotonic()))
    return count


# -- encryption


def tls_garbage(address: Address, count: int, seed: int) -> int:
    """What is no TLS, half of one, or a damaged one; then a good handshake with nonsense behind it."""
    chance = random.Random(seed)
    hello = _client_hello()
    for number in range(count):
        beginning = [
            chance.randbytes(chance.randint(1, 600)),
            hello[: chance.randrange(len(hello))],
            mutated(chance, hello),
            hello + chance.randbytes(300),
        ][number % 4]
        with contextlib.suppress(OSError), come(address, 220 + number % 16) as client:
            client.sendall(beginning)
            if number % 50 == 0:
                _nonsense_in_tls(address, chance)
    return count


def _client_hello() -> bytes:
    """What a client says first."""
    out = ssl.MemoryBIO()
    begun = _trusting_anybody().wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        begun.do_handshake()
    return out.read()


def _trusting_anybody() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _nonsense_in_tls(address: Address, chance: random.Random) -> None:
    with _trusting_anybody().wrap_socket(come(address, 219)) as client:
        client.sendall(chance.randbytes(1000))
        with socket.socket(fileno=socket.dup(client.fileno())) as below:  # what is no record of TLS
            below.sendall(chance.randbytes(1000))
