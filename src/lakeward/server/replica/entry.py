"""Entry: whether this server and those of the cluster let each other in, found out before it joins."""

from __future__ import annotations

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options import client, server
from lakeward.options.authentication import PROTOCOL_MAP, protocol_of
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.protocol.messages.database import ListDatabasesRequest
from lakeward.server.replica.seat import CoordinatorAtAddress

_AS_OTHERS = "as the cluster's other servers have it"


def check_listener(options: ServerOptions, *, logs_in: bool) -> None:
    """Refuse a seat that the others could not come to, or that could not come to them; INVALID_CONFIG says why."""
    name = options.get(server.INTERNAL_LISTENER)
    listeners = options.advertised_listeners()
    if name not in listeners:
        raise _refusal(
            f"'{server.INTERNAL_LISTENER.key}' is {name}, and this server has no such listener, so the others could"
            f" not come to it: it has {', '.join(listeners)}. Name both in '{server.BIND_LISTENERS.key}'"
        )
    asks = protocol_of(options.texts, name).asks_who
    if asks and not logs_in:
        raise _refusal(
            f"The listener {name}, by which the servers of the cluster come to each other, asks for a login, and this"
            f" server has none to show: set '{client.SECURITY_PROTOCOL.key}' = sasl, '{client.SASL_USERNAME.key}' and"
            f" '{client.SASL_PASSWORD.key}', {_AS_OTHERS}"
        )
    if logs_in and not asks:
        raise _refusal(
            f"This server logs in at the others ('{client.SECURITY_PROTOCOL.key}'), and its own listener {name} asks"
            f" nobody, so the others, which log in, could not come to it: set '{PROTOCOL_MAP.key}' = {name}:SASL and"
            f" the users, {_AS_OTHERS}"
        )


async def check_coordinator(coordinator: CoordinatorAtAddress, listener: str) -> None:
    """Refuse a cluster whose coordinator has another listener for its servers, or does not let this one in.

    One that is not there just now, or does not answer, is waited for later.
    """
    if not coordinator.addresses:
        return
    if listener not in coordinator.addresses:
        raise _refusal(
            f"The cluster's coordinator has no listener {listener}, by which this server would come: it has"
            f" {', '.join(coordinator.addresses)}. Set '{server.INTERNAL_LISTENER.key}', {_AS_OTHERS}, and a listener"
            f" of that name in '{server.BIND_LISTENERS.key}'"
        )
    try:
        await coordinator.ask(Api.LIST_DATABASES, ListDatabasesRequest())
    except LakewardError as wrong:
        if wrong.code is not ErrorCode.AUTHENTICATE:
            return
        host, port = coordinator.addresses[listener]
        raise _refusal(
            f"The cluster's coordinator at {host}:{port} does not let this server in: {wrong.message.rstrip('.')}. Set"
            f" 'client.security.*', and '{PROTOCOL_MAP.key}' for the listener {listener}, {_AS_OTHERS}"
        ) from wrong


def _refusal(what: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(f"{what}.")
