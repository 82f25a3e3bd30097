"""What is said of a listener that lets everybody in, or whose passwords everybody on the way can read."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping

from lakeward.options.authentication import ListenerProtocol
from lakeward.options.endpoint import Endpoint

_THIS_MACHINE = "localhost"


def warnings_of(
    listeners: Iterable[Endpoint], protocols: Mapping[str, ListenerProtocol], *, clients_show_certificates: bool
) -> list[str]:
    """A sentence for each listener that others than this machine reach, and that is open in some way."""
    found = []
    for listener in listeners:
        protocol = protocols[listener.name]
        if is_of_this_machine(listener.host):
            continue
        if not protocol.asks_who and not (protocol.encrypts and clients_show_certificates):
            found.append(
                f"The listener {listener} is {protocol.value} and asks nobody for a login: whoever reaches it may read,"
                " change and drop everything. docs/guides/security.md says how to close it"
            )
        elif not protocol.encrypts:
            found.append(
                f"The listener {listener} is {protocol.value}, not encrypted: whoever is on the way reads along,"
                " passwords too where they are sent. docs/guides/security.md says how to encrypt it"
            )
    return found


def is_of_this_machine(host: str) -> bool:
    """Whether only this machine reaches an address that is listened on."""
    if host.lower() == _THIS_MACHINE:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
