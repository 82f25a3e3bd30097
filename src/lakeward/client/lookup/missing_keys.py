"""KeyNotFoundError: what a lookup with missing="raise" raises."""

from __future__ import annotations

from lakeward.errors import ErrorCode, NotFoundError


class KeyNotFoundError(NotFoundError, KeyError):
    """No row has the key. A KeyError too; its code is NONE, because the server answered well."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.NONE, message)

    def __str__(self) -> str:
        return self.message  # KeyError would show it in quotes
