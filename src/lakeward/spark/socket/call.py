"""Call: what the JVM asks of a bridge process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from lakeward.client.blocking.sync import Connection
from lakeward.options.spark import connector_options
from lakeward.spark.socket.frames import ARROW, Frames
from lakeward.spark.table.connections import connection

#: Calls that come after others: the server was there when the job began.
_LATER = ("stream.", "read", "write", "commit_staged")


@dataclass(frozen=True)
class Call:
    """One call: its name, the connector options it is made with, and its arguments."""

    name: str
    options: dict[str, str]
    arguments: Mapping[str, Any]
    frames: Frames
    part_count: int = 0

    @classmethod
    def of(cls, asked: Mapping[str, Any], frames: Frames) -> Self:
        """The call of a JSON frame; what follows it in other frames is read when it is needed."""
        return cls(
            asked["call"], connector_options(asked["options"]), asked["arguments"], frames, asked.get("parts", 0)
        )

    @property
    def conn(self) -> Connection:
        """The connection to the cluster, kept open from call to call."""
        return connection(self.options, expected=self.name.startswith(_LATER))

    def __getitem__(self, key: str) -> Any:
        return self.arguments[key]

    def get(self, key: str) -> Any:
        """An argument that may be left out."""
        return self.arguments.get(key)

    def parts(self) -> list[bytes]:
        """The byte strings that came with the call."""
        return [self.frames.receive()[1].to_pybytes() for _ in range(self.part_count)]

    def rows_in(self) -> Iterator[Any]:
        """The Arrow messages that follow the call, up to its end."""
        while True:
            kind, payload = self.frames.receive()
            if kind != ARROW:
                return
            yield payload
