"""What systemd is told by a service of `Type=notify`: one datagram to the socket that NOTIFY_SOCKET names."""

from __future__ import annotations

import contextlib
import os
import socket

_VARIABLE = "NOTIFY_SOCKET"


def tell_supervisor(state: str) -> None:
    """Say `READY=1` or `STOPPING=1`, if somebody wants to know; nobody does where there is no systemd."""
    where = os.environ.get(_VARIABLE, "")
    if not where:
        return
    address = "\0" + where[1:] if where.startswith("@") else where
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(state.encode(), address)
