"""What goes wrong behind Arrow Flight, as its clients are told; the calls themselves are tested by drivers."""

from __future__ import annotations

import logging

import pytest
from pyarrow import flight

from lakeward.errors import ErrorCode
from lakeward.sql_server.flight.flight_server import _tell_errors
from lakeward.sql_server.flight.protobuf import BadMessageError


@pytest.mark.parametrize(
    ("wrong", "told", "text"),
    [
        (ErrorCode.AUTHENTICATE.error("Who?"), flight.FlightUnauthenticatedError, "Who?"),
        (ErrorCode.AUTHORIZATION.error("Not you."), flight.FlightUnauthorizedError, "Not you."),
        (
            ErrorCode.OPERATION_NOT_ATTEMPTED.error("The question took longer than 1 seconds and was stopped."),
            flight.FlightTimedOutError,
            "took longer",
        ),
        (ErrorCode.OPERATION_NOT_ATTEMPTED.error("Cancelled."), flight.FlightCancelledError, "Cancelled"),
        (ErrorCode.NETWORK.error("Nobody is there."), flight.FlightUnavailableError, "Nobody is there"),
        (ErrorCode.TABLE_NOT_EXIST.error("No such table."), flight.FlightServerError, "No such table"),
        (BadMessageError(), flight.FlightServerError, "no message of Flight SQL"),
        (MemoryError(), flight.FlightServerError, "more memory"),
        (flight.FlightServerError("As it is."), flight.FlightServerError, "As it is"),
    ],
)
def test_errors_have_the_kind_that_drivers_know(wrong: Exception, told: type[Exception], text: str) -> None:
    """With their own sentence."""
    with pytest.raises(told, match=text), _tell_errors():
        raise wrong


def test_what_nobody_foresaw_is_for_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    """pyarrow would send the trace of another error to whoever asks."""
    with caplog.at_level(logging.ERROR), pytest.raises(flight.FlightInternalError) as caught, _tell_errors():
        raise ValueError("/a/path/of/this/machine")
    assert "/a/path" not in str(caught.value)
    assert "/a/path" in caplog.text
