"""The life of a tablet server that a coordinator on this machine has started: it ends with its parent.

What it is comes on standard input, as JSON; what became of it goes to standard output, one line:

{"server_id": 1, "settings": {…}, "orders": 7, "questions": 8, "identity": null}
                                                                     → {"listeners": {"FLUSS": ["", 9124]}}
                                                                     or {"failed": "a sentence"}
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.errors import LakewardError
from lakeward.options.server_options import ServerOptions
from lakeward.rpc.channel import Channel
from lakeward.server.doors import Doors
from lakeward.server.member.coordinator import ChannelLink
from lakeward.server.node import start_node
from lakeward.server.tablet_roles import Membership

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TabletBrief:
    """Which tablet server this process is, and by which descriptors it speaks with its coordinator."""

    server_id: int
    settings: Mapping[str, str]
    orders: int
    questions: int
    #: What the server is called in its remote storage, if it has any.
    identity: str | None

    @classmethod
    def parse(cls, text: str) -> TabletBrief:
        """What the parent has written."""
        return cls(**json.loads(text))

    def text(self) -> str:
        """What the parent writes."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__})


async def live(brief: TabletBrief, stopping: asyncio.Event) -> None:
    """Serve until somebody wants it to stop, or the parent is gone."""
    link = ChannelLink()
    try:
        options = ServerOptions.of(pairs=list(brief.settings.items()))
        member = Membership(brief.server_id, link, brief.identity)
        node = await start_node(options, Doors.of_this_machine(), member=member)
    except LakewardError as wrong:
        _say({"failed": wrong.message})
        return
    # Orders are obeyed from now on; whoever asks the parent must have been told that there is one.
    await node.front.take_server(_socket(brief.orders))
    _say({"listeners": {one.name: [one.told_host, one.port] for one in node.addresses}})
    channel = await Channel.over(_socket(brief.questions), "the coordinator")
    channel.on_break(stopping.set)
    link.connect(channel)
    await stopping.wait()
    await node.stop()


def _socket(descriptor: int) -> socket.socket:
    found = socket.socket(fileno=descriptor)
    found.settimeout(0)
    return found


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()
