"""Failures: an error of the cluster as a page that says what to do."""

from __future__ import annotations

import pytest

from lakeward.console.frame.failures import failure_of, failure_of_status
from lakeward.errors import ErrorCode


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ErrorCode.NETWORK, 503),
        (ErrorCode.AUTHORIZATION, 403),
        (ErrorCode.TABLE_NOT_EXIST, 404),
        (ErrorCode.UNSUPPORTED_VERSION, 501),
        (ErrorCode.INVALID_TABLE, 400),
        (ErrorCode.UNKNOWN_SERVER_ERROR, 502),
    ],
)
def test_each_kind_of_error_has_its_status_and_something_to_do(code: ErrorCode, status: int) -> None:
    """The sentence of the error is the page's."""
    found = failure_of(code.error("It broke."))
    assert (found.status, found.what) == (status, "It broke.")
    assert found.todo


def test_requests_that_no_page_answers_have_sentences_too() -> None:
    """A status that nobody foresaw is a bug's."""
    assert failure_of_status(404).title == "No such page"
    assert failure_of_status(403, "Read-only.").what == "Read-only."
    assert failure_of_status(418).title == "Something went wrong"
