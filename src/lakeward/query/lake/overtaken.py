"""OvertakenError: the table has moved on while a plan was made or read, and a newer plan has the rows."""

from __future__ import annotations

from lakeward.errors import ErrorCode, RetriableError


class OvertakenError(RetriableError):
    """What was planned to be read is gone; a newer snapshot of the lake has the rows."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.LOG_OFFSET_OUT_OF_RANGE, message)
