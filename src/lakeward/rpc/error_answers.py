"""Where errors become answers: of a request, of one bucket or table in it, of a connection that makes no sense."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.codec import Parts
from lakeward.protocol.frames import error_frame, failure_frame

_log = logging.getLogger(__name__)
_MESSAGE_CHARACTERS_MAX = 2048
_M = TypeVar("_M")


def error_of(wrong: Exception, api: str, peer: str) -> LakewardError:
    """What a client is told of whatever was raised; a bug is logged, and must not leave its client waiting."""
    if isinstance(wrong, LakewardError):
        return wrong
    _log.error("%s from %s failed", api, peer, exc_info=wrong)
    return ErrorCode.UNKNOWN_SERVER_ERROR.error(f"The server failed on {api}; its log says why.")


def request_refusal(request_id: int, wrong: LakewardError) -> Parts:
    """The answer to a request that failed as a whole."""
    text = None if wrong.message == wrong.code.sentence else wrong.message[:_MESSAGE_CHARACTERS_MAX]
    return error_frame(request_id, wrong.code, text)


def refusal(kind: Callable[..., _M], wrong: LakewardError, **fields: Any) -> _M:
    """The answer for one bucket or table of a request, as a message that has an error's two fields."""
    return kind(error_code=wrong.code.value, error_message=wrong.message, **fields)


def consent(kind: Callable[..., _M], **fields: Any) -> _M:
    """The answer for one thing of a request that went well, where clients want that said."""
    return kind(error_code=ErrorCode.NONE.value, **fields)


def bucket_refusal(kind: Callable[..., _M], one: Any, wrong: LakewardError) -> _M:
    """The answer for one bucket, which the request named by partition and number."""
    return refusal(kind, wrong, partition_id=one.partition_id, bucket_id=one.bucket_id)


def last_words(wrong: LakewardError) -> Parts:
    """What is said before a connection is closed whose frames cannot be understood."""
    return failure_frame(wrong.code, wrong.message)
