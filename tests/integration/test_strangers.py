"""Strangers who mean harm: whatever they send, the server goes on, stays small, and serves those who are in.

The long campaign is tests/crash/test_hostile_clients.py.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
from pathlib import Path

import pytest
from logins import ASKING, JAAS, log_in, plain_token
from server_process import ServerProcess
from strangers import mutated
from wire_client import HELLO, WireClient

from lakeward.protocol.api import Api
from lakeward.protocol.codec import encode
from lakeward.protocol.messages.auth import AuthenticateRequest
from lakeward.protocol.messages.metadata import MetadataRequest

_MB = 1 << 20
_GROWTH_BYTES = 48 * _MB


def frames(client: WireClient) -> list[bytes]:
    """What a login consists of, and what comes after it."""
    scram = AuthenticateRequest(protocol="SCRAM-SHA-256", token=b"n,,n=alice,r=fyko+d2lbbFgONRv9qkxdawL")
    messages = [
        (Api.API_VERSIONS, HELLO),
        (Api.AUTHENTICATE, plain_token("alice", "guess")),
        (Api.AUTHENTICATE, scram),
        (Api.GET_METADATA, MetadataRequest()),
    ]
    return [client.frame(api.value, 0, encode(message))[1] for api, message in messages]


def send_and_leave(address: tuple[str, int], data: bytes) -> None:
    """Say something and go, without waiting to be answered."""
    with contextlib.suppress(OSError), socket.create_connection(address, 10) as client:
        client.sendall(data)


def asking_server(directory: Path, **options: str) -> ServerProcess:
    """A server whose strangers have little time."""
    return ServerProcess(
        directory,
        security__sasl__plain__jaas__config=JAAS,
        security__login__max_failures_per_minute="100000",
        security__login__timeout="5s",
        **ASKING,
        **options,
    )


def test_mutated_logins_harm_nobody(tmp_path: Path) -> None:
    """Thousands of damaged frames before and after a login, in any cut: no trace in the log, no memory lost."""
    chance = random.Random(18)
    with asking_server(tmp_path / "data") as server:
        host, port = server.listeners["CLIENT"].rsplit(":", 1)
        with WireClient.of(server.listeners["CLIENT"]) as inside:
            log_in(inside, "alice", "alice-secret")
            login = inside.frame(Api.AUTHENTICATE.value, 0, encode(plain_token("alice", "alice-secret")))[1]
            before = server.memory_bytes
            for number in range(1500):
                parts = chance.choices(frames(inside), k=chance.randint(1, 4))
                noise = mutated(chance, b"".join(parts))
                send_and_leave((host, int(port)), login + noise if number % 3 == 0 else noise)
                if number % 100 == 0:
                    inside.call(Api.GET_METADATA, MetadataRequest())
            inside.call(Api.GET_METADATA, MetadataRequest())
        assert server.memory_bytes - before < _GROWTH_BYTES
        assert "Traceback" not in server.log_text
        assert "alice-secret" not in server.log_text
        assert server.stop() == 0


@pytest.mark.long
def test_a_crowd_that_guesses_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Hundreds of wrong logins at once: who is in is served meanwhile, and a right password gets somebody in."""
    with asking_server(tmp_path / "data") as server:
        where = server.listeners["CLIENT"]
        with WireClient.of(where) as inside:
            log_in(inside, "alice", "alice-secret")
            before = server.memory_bytes
            guessing = [threading.Thread(target=_guess, args=(where, number)) for number in range(8)]
            for one in guessing:
                one.start()
            while any(one.is_alive() for one in guessing):
                inside.call(Api.GET_METADATA, MetadataRequest())
            with WireClient.of(where) as late:
                log_in(late, "alice", "alice-secret")
        assert server.memory_bytes - before < _GROWTH_BYTES
        assert "Traceback" not in server.log_text


def _guess(where: str, number: int) -> None:
    """Open many connections, send a guess on each, and only then listen."""
    clients = [WireClient.of(where) for _ in range(40)]
    for count, client in enumerate(clients):
        client.send(Api.AUTHENTICATE, plain_token("alice" if count % 2 else f"user{number}", f"guess {count}"))
    for client in clients:
        client.close()
