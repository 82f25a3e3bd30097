"""systemd hears that a server is ready; where there is none, nothing happens."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lakeward.runtime.process.supervisor import tell_supervisor


def test_systemd_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One datagram with what was said."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(10)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        tell_supervisor("READY=1")
        assert systemd.recv(100) == b"READY=1"


@pytest.mark.parametrize("where", ["", "/nowhere/notify"])
def test_nobody_needs_to_listen(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a socket, or with one that is gone, a server goes on."""
    monkeypatch.setenv("NOTIFY_SOCKET", where)
    tell_supervisor("READY=1")
