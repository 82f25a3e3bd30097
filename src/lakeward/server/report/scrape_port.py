"""ScrapePort: metrics on a port of their own, as Apache Fluss's reporter `prometheus` has them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from lakeward.errors import ErrorCode

_REQUEST_BYTES_MAX = 16 << 10
_PATIENCE_S = 10.0
#: Who comes while so many are answered is sent away.
_READERS_MAX = 32
Pages = Callable[[bytes], "bytes | asyncio.Future[bytes]"]


def ports_of(key: str, text: str) -> Sequence[int]:
    """A port, or those of a range such as 9250-9260."""
    first, dash, last = (part.strip() for part in text.partition("-"))
    try:
        ports = range(int(first), (int(last) if dash else int(first)) + 1)
        if ports and ports[0] >= 0 and ports[-1] < 1 << 16:
            return ports
    except ValueError:
        pass
    raise ErrorCode.INVALID_CONFIG.error(f"'{key}' is '{text[:80]}'; write a port, or a range such as 9250-9260.")


class ScrapePort:
    """Answers plain HTTP, and nothing else."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._readers = 0
        self._server: asyncio.Server | None = None

    async def open(self, host: str, ports: Sequence[int]) -> int:
        """Take the first port that is free; returns it."""
        why: OSError | None = None
        for port in ports:
            try:
                self._server = await asyncio.start_server(self._answer, host, port, limit=_REQUEST_BYTES_MAX)
            except OSError as wrong:
                why = wrong
            else:
                taken: int = self._server.sockets[0].getsockname()[1]
                return taken
        raise ErrorCode.INVALID_CONFIG.error(
            f"No port of 'metrics.reporter.prometheus.port' can be taken on {host}: {why}. Choose another one, or a"
            " range; GET /metrics is on the port of the clients, too."
        )

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._readers += 1
        try:
            if self._readers <= _READERS_MAX:
                async with asyncio.timeout(_PATIENCE_S):
                    answer = self._pages(await reader.readuntil(b"\r\n\r\n"))
                    writer.write(answer if isinstance(answer, bytes) else await answer)
                    await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # whoever asks so is not answered
        finally:
            self._readers -= 1
            writer.close()

    def close(self) -> None:
        """Answer no more."""
        if self._server is not None:
            self._server.close()
