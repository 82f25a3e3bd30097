"""lakeward tablet-server: hands on to the server what comes to it."""

from __future__ import annotations

import asyncio
import os
import signal

import click

from lakeward.cli.input.failures import Failure
from lakeward.cli.input.fluss_properties import VARIABLE, settings_of
from lakeward.cli.input.key_values import key_values
from lakeward.cli.output.listing import say
from lakeward.options.endpoint import Endpoint
from lakeward.options.server import BIND_LISTENERS

_PORT = 9123
#: Whom it asks if nothing is said: what compose files of Apache Fluss call their coordinator.
_NAMES = ("coordinator-server", "coordinator")
#: Not an option of Apache Fluss, but people write it.
_COORDINATORS = "coordinator.servers"


@click.command("tablet-server")
@click.option(
    "--coordinator", metavar="HOST:PORT", help="The server.  [default: 'coordinator.servers', or by its name]"
)
@click.option("-D", "pairs", multiple=True, metavar="KEY=VALUE", callback=key_values, help="As in FLUSS_PROPERTIES.")
def tablet_server(coordinator: str | None, pairs: dict[str, str]) -> None:
    """Hand on to the server what comes to this port; compose files of Apache Fluss have such a container.

    One Lakeward process is the coordinator and its tablet servers, so there is nothing left to do here: rows are kept
    by the container that runs `coordinator-server` or `serve`, which is the one that needs a volume. Clients that were
    given this address reach it all the same, and GET /health tells how it does. Addresses come from 'bind.listeners'
    and 'coordinator.servers', in FLUSS_PROPERTIES or by -D. `tabletServer` is another name of it.

    \b
    Examples:
      lakeward tablet-server --coordinator coordinator:9123 -D bind.listeners=FLUSS://0.0.0.0:9124
      FLUSS_PROPERTIES="coordinator.servers=coordinator:9123" lakeward tablet-server
    """
    settings = settings_of(os.environ.get(VARIABLE, ""), os.environ) | pairs
    given = coordinator or settings.get(_COORDINATORS)
    servers = [_address(one) for one in given.split(",")] if given else [(name, _PORT) for name in _NAMES]
    listeners = settings.get(BIND_LISTENERS.key, f"FLUSS://0.0.0.0:{_PORT}")
    asyncio.run(_forward(BIND_LISTENERS.parse(listeners), servers))


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.strip().rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise Failure(f"'{text}' is not the address of a coordinator; write HOST:PORT.")
    return host.strip("[]"), int(port)


async def _forward(listeners: tuple[Endpoint, ...], servers: list[tuple[str, int]]) -> None:
    from lakeward.rpc.forwarder import Forwarder

    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    forwarder = Forwarder(servers)
    places = [await forwarder.listen(endpoint) for endpoint in listeners]
    say("Lakeward's server is coordinator and tablet server in one. This process keeps no rows and needs no volume:")
    shown = " or ".join(f"{host}:{port}" for host, port in servers)
    say(f"what comes to {', '.join(map(str, places))} is handed on to {shown}.")
    await stopping.wait()
    await forwarder.close()
    say("Stopped.")
