"""A whole server in this process, on files in memory, and a client that hands it bytes."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from fake_transport import feed
from simulated_loop import SimulatedLoop
from wire_client import WireClient, WireCluster

from lakeward.options.endpoint import Endpoint
from lakeward.options.server_options import ServerOptions
from lakeward.rpc.listener import Listener
from lakeward.rpc.server_connection import ServerConnection
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.memory_files import MemoryFiles
from lakeward.server.doors import Doors
from lakeward.server.node import Node, start_node

#: Nobody can make a directory here: whatever goes past the port fails.
DATA_DIR = "/proc/simulation"
CHECKPOINT_MS = 60_000
_OPTIONS = {
    "data.dir": DATA_DIR,
    "log.batch.check": "structure",
    "log.scrub.rate": "0 b",
    "log.segment.file-size": "4 kb",
    "log.index.interval-size": "256 b",
    "log.segment.delete-delay": "2 min",
    "log.retention.check-interval": "1 min",
    "log.flush.offset.checkpoint-interval": f"{CHECKPOINT_MS} ms",
    "kv.snapshot.interval": "2 min",
}
_ADDRESS = Endpoint("FLUSS", "localhost", 9123)


class SimulatedServer:
    """A server that runs as long as it is asked something."""

    def __init__(self, files: MemoryFiles, clock: ManualClock, seed: int, **options: str) -> None:
        self.clock = clock
        self.loop = SimulatedLoop(clock)
        doors = Doors(clock, SeededEntropy(seed), files, self.loop.new_threads)
        settings = {**_OPTIONS, **{key.replace("_", "."): value for key, value in options.items()}}
        starting = self.loop.create_task(start_node(ServerOptions.of(settings), doors))
        self.loop.run_until(starting.done)
        self.node: Node = starting.result()
        client = SimulatedClient(self.loop, self.node)
        self.cluster = WireCluster(client, client)

    def stop(self) -> None:
        """End it as an operator does."""
        self.cluster.close()
        stopping = self.loop.create_task(self.node.stop())
        self.loop.run_until(stopping.done)
        stopping.result()
        self.loop.abandon()

    def kill(self) -> None:
        """End it as nobody should."""
        self.cluster.close()
        self.loop.abandon()


class MemoryTransport:
    """What a server writes to, and a client reads from."""

    def __init__(self, protocol: ServerConnection) -> None:
        self._protocol = protocol
        self._socket = socket.socket()  # the server sets options on it
        self.written = bytearray()
        self.is_closed = False

    def get_extra_info(self, name: str) -> Any:
        """Where the two ends are."""
        address = ("127.0.0.1", 1)
        return {"socket": self._socket, "peername": address, "sockname": address}.get(name)

    def writelines(self, parts: Iterable[bytes]) -> None:
        """Keep the bytes for the client."""
        for part in parts:
            self.written += part

    def write(self, data: bytes) -> None:
        """Keep the bytes for the client."""
        self.written += data

    def get_write_buffer_size(self) -> int:
        """The client takes everything at once."""
        return 0

    def set_write_buffer_limits(self, high: int) -> None:
        """There are none."""

    def pause_reading(self) -> None:
        """The client waits for its answer anyway."""

    def resume_reading(self) -> None:
        """The client waits for its answer anyway."""

    def close(self) -> None:
        """Hang up."""
        if not self.is_closed:
            self.is_closed = True
            self._protocol.connection_lost(None)
            self._socket.close()

    abort = close

    def is_closing(self) -> bool:
        """Whether somebody hung up."""
        return self.is_closed


class SimulatedClient(WireClient):
    """A connection that is a function call. Waiting for an answer lets the server's world go on."""

    def __init__(self, loop: SimulatedLoop, node: Node) -> None:
        self._loop = loop
        self._next_id = 0
        self._early = {}
        self._asked = {}
        self._protocol = node.front.connection(Listener(_ADDRESS, _ADDRESS))
        self.transport = MemoryTransport(self._protocol)
        self._protocol.connection_made(self.transport)  # type: ignore[arg-type]

    def send_bytes(self, data: bytes) -> None:
        """Hand them over."""
        feed(self._protocol, data)

    def _exactly(self, size: int) -> bytes:
        written = self.transport.written
        self._loop.run_until(lambda: len(written) >= size or self.transport.is_closed)
        if len(written) < size:
            raise ConnectionResetError("the server closed the connection")
        data = bytes(written[:size])
        del written[:size]
        return data

    def close(self) -> None:
        """Hang up."""
        self.transport.close()
