"""A port that people come to: taken with a sentence, and not lent to a whole network."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Mapping

from lakeward.errors import ErrorCode
from lakeward.options import client as rows

_BACKLOG = 2048


def is_loopback(bind: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return bind.lower() == "localhost" or ipaddress.ip_address(bind).is_loopback
    except ValueError:
        return False


def listen(bind: str, port: int) -> socket.socket:
    """A socket on an address of this machine; says which one is taken or is not ours."""
    try:
        family, _, _, _, address = socket.getaddrinfo(bind, port, type=socket.SOCK_STREAM)[0]
    except OSError as wrong:
        raise ErrorCode.INVALID_CONFIG.error(f"'{bind}' is no address of this machine: {wrong.strerror}.") from None
    # By its number: asyncio sends small answers at once (TCP_NODELAY) only on sockets that say they are TCP. Otherwise
    # an answer in two parts waits 40 ms for a client that is in no hurry to confirm the first.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as wrong:
        listener.close()
        why = "is taken; choose another with --port" if wrong.errno == errno.EADDRINUSE else f"failed: {wrong.strerror}"
        raise ErrorCode.INVALID_CONFIG.error(f"Port {port} of {bind} {why}.") from None
    return listener


def check_openness(program: str, bind: str, options: Mapping[str, str]) -> None:
    """Refuse to lend a program's own login to a whole network."""
    has_login = rows.SASL_USERNAME.key in options or rows.SASL_JAAS.key in options
    if has_login and not is_loopback(bind):
        raise ErrorCode.INVALID_CONFIG.error(
            f"{program} would act as its own user for everybody who reaches {bind}. Leave --user out, so that each "
            "person logs in, or listen on 127.0.0.1."
        )
