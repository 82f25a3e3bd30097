"""ClientSecurity: how a client comes in. Encrypted or not, as somebody or as nobody in particular."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.rpc.client_tls import ClientTls
from lakeward.rpc.login import Login


@dataclass(frozen=True, slots=True)
class ClientSecurity:
    """What every connection of a client does before its first request."""

    login: Login | None = None
    tls: ClientTls | None = None


#: Plain text, and no questions asked.
OPEN = ClientSecurity()
