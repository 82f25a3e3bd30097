"""Errors: a code, a class, one sentence."""

from __future__ import annotations

from lakeward.errors import ErrorCode


def test_a_servers_stack_trace_stays_out_of_the_sentence() -> None:
    """Apache Fluss sends the whole trace of an error that it did not expect."""
    told = "java.lang.IllegalStateException: no\n\tat org.apache.A.b(A.java:1)\n\tat org.apache.C.d(C.java:2)"
    assert ErrorCode.UNKNOWN_SERVER_ERROR.error(told).message == "java.lang.IllegalStateException: no"


def test_a_message_of_several_lines_stays_whole() -> None:
    """Only a stack is cut."""
    assert ErrorCode.UNKNOWN_SERVER_ERROR.error("one\ntwo").message == "one\ntwo"
    assert ErrorCode.UNKNOWN_SERVER_ERROR.error(None).message
