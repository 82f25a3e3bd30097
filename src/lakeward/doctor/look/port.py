"""Who listens at an address: asked with the first request of the protocol, and by HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from lakeward.client.cluster.cluster import addresses
from lakeward.client.forms.results import ServerInfo
from lakeward.doctor.facts.port import Listener, PortFacts, ReachedServer
from lakeward.protocol.api import Api
from lakeward.protocol.codec import encode_parts
from lakeward.protocol.frames import FAILURE, RESPONSE_HEADER, request_frame
from lakeward.protocol.messages.metadata import ApiVersionsRequest

_HTTP = b"GET /health HTTP/1.1\r\nHost: doctor\r\nConnection: close\r\n\r\n"
_OURS = (b'{"status":', b"Log in with the name and the password of a user.")
#: A TLS server answers plain text with an alert: type 21, then its version.
_TLS_ALERT = b"\x15\x03"
_SHOWN_BYTES = 60
_REQUEST_ID = 4711
_FRAME_MAX = 1 << 20


async def look_at_port(bootstrap: str, timeout_s: float) -> PortFacts:
    """Who answers at the first of some addresses."""
    address = addresses(bootstrap)[0]
    host, port = address.host, address.port
    try:
        by_http = await _talk(host, port, _HTTP, timeout_s)
    except socket.gaierror as wrong:
        return PortFacts(str(address), Listener.UNKNOWN_HOST, wrong.strerror or str(wrong))
    except ConnectionRefusedError as wrong:
        return PortFacts(str(address), Listener.NOBODY, wrong.strerror or "refused")
    except (OSError, TimeoutError) as wrong:
        return PortFacts(str(address), Listener.OUT_OF_REACH, getattr(wrong, "strerror", None) or "no answer in time")
    if by_http.startswith(b"HTTP/"):
        body = by_http.partition(b"\r\n\r\n")[2]
        ours = any(body.startswith(mark) for mark in _OURS)
        head = by_http.split(b"\r\n", 1)[0].decode("latin-1")
        return PortFacts(str(address), Listener.LAKEWARD if ours else Listener.HTTP, "" if ours else head)
    if by_http.startswith(_TLS_ALERT):
        return PortFacts(str(address), Listener.TLS)
    with contextlib.suppress(OSError, TimeoutError):
        answer = await _talk(host, port, _hello(), timeout_s)
        if _is_fluss(answer):
            return PortFacts(str(address), Listener.FLUSS)
        by_http = by_http or answer
    shown = by_http[:_SHOWN_BYTES].decode("ascii", errors="backslashreplace").strip()
    return PortFacts(str(address), Listener.OTHER if shown else Listener.SILENT, shown)


async def reach(server: ServerInfo, timeout_s: float) -> ReachedServer:
    """Whether a server can be reached under the address that the cluster tells."""
    trouble = None
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(server.host, server.port)
        writer.close()
    except TimeoutError:
        trouble = f"no answer within {timeout_s:g} s"
    except OSError as wrong:
        trouble = wrong.strerror or str(wrong)
    return ReachedServer(server.role, server.id, f"{server.host}:{server.port}", trouble)


async def _talk(host: str, port: int, said: bytes, timeout_s: float) -> bytes:
    """What is answered first; nothing when nothing is, in time."""
    async with asyncio.timeout(timeout_s):
        reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(said)
        async with asyncio.timeout(timeout_s):
            return await _first_bytes(reader)
    except (TimeoutError, ConnectionResetError, BrokenPipeError):
        return b""
    finally:
        writer.close()


async def _first_bytes(reader: asyncio.StreamReader) -> bytes:
    """As far as the head of an HTTP answer and the beginning of its body."""
    answer = b""
    while len(answer) < 4096:
        piece = await reader.read(4096)
        answer += piece
        _, found, body = answer.partition(b"\r\n\r\n")
        if not piece or not answer.startswith(b"HTTP/") or (found and len(body) >= max(map(len, _OURS))):
            break
    return answer


def _hello() -> bytes:
    hello = ApiVersionsRequest(client_software_name="lakeward-doctor", client_software_version="1")
    return b"".join(request_frame(Api.API_VERSIONS.value, 0, _REQUEST_ID, encode_parts(hello)))


def _is_fluss(answer: bytes) -> bool:
    """Whether it is a frame: its length, then the kind of an answer and the number of the request."""
    if len(answer) < RESPONSE_HEADER.size:
        return False
    length, kind, request_id = RESPONSE_HEADER.unpack_from(answer)
    is_frame: bool = 0 < length < _FRAME_MAX and (kind == FAILURE or (kind < FAILURE and request_id == _REQUEST_ID))
    return is_frame
