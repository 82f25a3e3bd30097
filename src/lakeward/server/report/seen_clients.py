"""SeenClients: which clients have come since the server started, by the names they give themselves.

Anybody may say anything there, before a login too: texts are cut, and the newest few are kept.
"""

from __future__ import annotations

_CLIENTS_MAX = 50
_LETTERS_MAX = 40


class SeenClients:
    """Names and versions, the newest last."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], None] = {}

    def note(self, name: str, version: str) -> None:
        """Somebody has come."""
        client = _plain_text(name), _plain_text(version)
        self._seen.pop(client, None)
        self._seen[client] = None
        if len(self._seen) > _CLIENTS_MAX:
            del self._seen[next(iter(self._seen))]

    def document(self) -> list[dict[str, str]]:
        """For /health."""
        return [{"name": name, "version": version} for name, version in self._seen]


def _plain_text(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:_LETTERS_MAX])
