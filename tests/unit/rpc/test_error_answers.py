"""One place where errors become answers."""

from __future__ import annotations

import logging

import pytest

from lakeward.errors import ErrorCode
from lakeward.protocol.codec import decode
from lakeward.protocol.frames import ERROR, FAILURE, RESPONSE_HEADER
from lakeward.protocol.messages.log import PbProduceLogReqForBucket, PbProduceLogRespForBucket
from lakeward.protocol.messages.shared import ErrorResponse
from lakeward.rpc.error_answers import bucket_refusal, error_of, last_words, refusal, request_refusal

WRONG = ErrorCode.TABLE_NOT_EXIST.error("There is no table 'x'.")


def test_a_known_error_is_told_as_it_is() -> None:
    """What was raised for the client reaches the client."""
    assert error_of(WRONG, "CREATE_TABLE", "10.0.0.1:1") is WRONG


def test_a_bug_is_logged_with_its_trace_and_told_without(caplog: pytest.LogCaptureFixture) -> None:
    """The client learns that there is one; what and where stands in the server's log."""
    with caplog.at_level(logging.ERROR):
        told = error_of(ZeroDivisionError("secret"), "CREATE_TABLE", "10.0.0.1:1")
    assert told.code is ErrorCode.UNKNOWN_SERVER_ERROR
    assert "CREATE_TABLE" in told.message
    assert "secret" not in told.message
    assert "CREATE_TABLE from 10.0.0.1:1 failed" in caplog.text
    (record,) = caplog.records
    assert record.exc_info is not None
    assert repr(record.exc_info[1]) == "ZeroDivisionError('secret')"


def test_a_request_is_refused_with_its_id_and_a_bounded_message() -> None:
    """A message of megabytes is cut, and one that only repeats the code's sentence is left out."""
    frame = b"".join(request_refusal(7, ErrorCode.TABLE_NOT_EXIST.error("x" * 5000)))
    assert RESPONSE_HEADER.unpack_from(frame) == (len(frame) - 4, ERROR, 7)
    answer = decode(ErrorResponse, frame[RESPONSE_HEADER.size :])
    assert (answer.error_code, answer.error_message) == (ErrorCode.TABLE_NOT_EXIST.value, "x" * 2048)
    plain = b"".join(request_refusal(7, ErrorCode.TABLE_NOT_EXIST.error()))
    assert decode(ErrorResponse, plain[RESPONSE_HEADER.size :]).error_message is None


def test_a_bucket_is_refused_beside_others_that_are_not() -> None:
    """The answer names the bucket as the request did."""
    asked = PbProduceLogReqForBucket(partition_id=5, bucket_id=3, records=b"")
    answer = bucket_refusal(PbProduceLogRespForBucket, asked, WRONG)
    assert (answer.partition_id, answer.bucket_id) == (5, 3)
    assert (answer.error_code, answer.error_message) == (WRONG.code.value, WRONG.message)
    assert refusal(ErrorResponse, WRONG) == ErrorResponse(error_code=WRONG.code.value, error_message=WRONG.message)


def test_last_words_are_a_failure_frame() -> None:
    """It has no request id: nobody knows which request it would be."""
    frame = b"".join(last_words(ErrorCode.CORRUPT_MESSAGE.error("no")))
    assert frame[4] == FAILURE
    assert decode(ErrorResponse, frame[5:]).error_message == "no"
