"""Answers that would be too large are refused, in words that say what to change."""

from __future__ import annotations

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.server import MAX_ANSWER_SIZE, MAX_KEYS, MAX_ROWS, MAX_UNREAD_MEMORY


def answer_too_large(bytes_max: int) -> LakewardError:
    """The refusal of what would take more bytes than one answer may have."""
    return ErrorCode.RECORD_TOO_LARGE.error(
        f"The answer would have more than {bytes_max} bytes (option '{MAX_ANSWER_SIZE.key}'); ask for less at once."
    )


def too_many_keys(count: int, keys_max: int) -> LakewardError:
    """The refusal of a lookup that names too many keys."""
    return ErrorCode.OPERATION_NOT_ATTEMPTED.error(
        f"The lookup names {count} keys, and the server takes {keys_max} at once (option '{MAX_KEYS.key}')."
    )


def too_many_rows(rows_max: int, bytes_max: int) -> LakewardError:
    """The refusal of prefixes that too many rows begin with."""
    return ErrorCode.RECORD_TOO_LARGE.error(
        f"More than {rows_max} rows or {bytes_max} bytes begin with these prefixes (options '{MAX_ROWS.key}' and"
        f" '{MAX_ANSWER_SIZE.key}'); use longer or fewer ones, or scan the table."
    )


def no_room() -> LakewardError:
    """The refusal of a large answer while others have not been read."""
    return ErrorCode.STORAGE_BACKPRESSURE.error(
        f"Too many answers are not read by their clients (option '{MAX_UNREAD_MEMORY.key}'); try again in a moment."
    )
