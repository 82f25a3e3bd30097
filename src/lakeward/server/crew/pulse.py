"""Pulse: whether a tablet server still answers. A process can hang, or be stopped, without ending."""

from __future__ import annotations

import asyncio
from typing import Any

from lakeward.errors import LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import ApiVersionsRequest
from lakeward.rpc.channel import CLIENT_NAME, Channel
from lakeward.runtime.version import VERSION

#: Whoever has not answered for so many beats hangs. Beats are counted, not seconds: where both sides stood still, as
#: after Ctrl-Z, the first beat is answered.
BEATS = 10
_BEAT_S = 1.0
_HELLO = ApiVersionsRequest(client_software_name=CLIENT_NAME, client_software_version=VERSION)


async def hangs(channel: Channel, beat_s: float = _BEAT_S) -> bool:
    """Ask again and again: True when there is no answer any more, False when the connection is gone."""
    while True:
        try:
            answer = channel.post(Api.API_VERSIONS, _HELLO, timeout_ms=10 * BEATS * beat_s * 1000)
            answer.add_done_callback(_retrieve)
            for _ in range(BEATS):
                await asyncio.sleep(beat_s)
                if answer.done():
                    break
            else:
                answer.cancel()
                return True
            answer.result()
        except LakewardError:
            return False


def _retrieve(answer: asyncio.Future[Any]) -> None:
    """Take note of a failure even when whoever waited for it has been told to stop."""
    if not answer.cancelled():
        answer.exception()
