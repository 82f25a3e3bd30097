"""LakeConflictError: somebody else changed the lake's table while a round was written."""

from __future__ import annotations

from lakeward.errors import ErrorCode, RetriableError


class LakeConflictError(RetriableError):
    """The round was not committed; made again on what is there now, it can be. Its code is NONE: no server said it."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.NONE, message)
