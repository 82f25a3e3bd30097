"""Actions → documents. What the server is too busy for is sent again; what it refuses is handed back, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.spark.scripts.connectors.elasticsearch.bulk_actions import Action, requests_of
from lakeward.spark.scripts.connectors.elasticsearch.bulk_client import BulkClient, TooLargeError
from lakeward.spark.scripts.connectors.elasticsearch.elasticsearch_options import BulkSettings

_OK = range(200, 300)
_NOT_FOUND, _BUSY, _SERVER_ERRORS = 404, 429, range(500, 600)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An action that the server did not take."""

    action: Action
    reason: str


class BulkWriter:
    """Writes actions, one request after another."""

    def __init__(self, settings: BulkSettings) -> None:
        self._settings = settings
        self._client = BulkClient(settings)

    def write(self, actions: Sequence[Action]) -> list[Refusal]:
        """All of them; they are kept when this returns, but for those that were refused."""
        refused = [
            Refusal(action, "a column in the name of its index is NULL") for action in actions if not action.index
        ]
        fit = [action for action in actions if action.index]
        for request in requests_of(fit, self._settings.max_actions, self._settings.max_bytes):
            refused += self._write(request)
        return refused

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def _write(self, actions: list[Action]) -> Iterator[Refusal]:
        pauses = list(self._settings.pauses_ms)
        while actions:
            try:
                items = self._client.send(b"".join(action.body for action in actions), pauses)
            except TooLargeError:
                yield from self._halves(actions)
                return
            again, why = [], ""
            for action, item in zip(actions, items, strict=True):
                status = int(item.get("status", 0))
                if status in _OK or (action.is_delete and status == _NOT_FOUND and "error" not in item):
                    continue
                if status == _BUSY or status in _SERVER_ERRORS:
                    again.append(action)
                    why = _reason(item)
                else:
                    yield Refusal(action, _reason(item))
            if again and not pauses:
                raise ErrorCode.NETWORK.error(
                    f"The servers are too busy: {len(again):,} of {len(items):,} documents were not taken. {why}"
                )
            if again:
                self._client.pause(pauses)
            actions = again

    def _halves(self, actions: list[Action]) -> Iterator[Refusal]:
        if len(actions) == 1:
            yield Refusal(actions[0], f"the server takes no request of {len(actions[0].body):,} bytes")
            return
        middle = len(actions) // 2
        yield from self._write(actions[:middle])
        yield from self._write(actions[middle:])


def _reason(item: dict[str, Any]) -> str:
    """What the server says of an action, its causes included."""
    error = item.get("error")
    words: list[str] = []
    while isinstance(error, dict):
        words.append(f"{error.get('type')}: {error.get('reason')}")
        error = error.get("caused_by")
    if isinstance(error, str):
        words.append(error)
    return f"HTTP {item.get('status')}, {', caused by '.join(words)}" if words else f"HTTP {item.get('status')}"
