"""What obstore says went wrong, in one sentence."""

from __future__ import annotations

import pytest
from obstore import exceptions

from lakeward.errors import DeniedError, ErrorCode, InvalidError, LakewardError, NotFoundError, RetriableError
from lakeward.remote.s3.s3_failures import BehindEndError, ExistsError, failure

_HEAD = "Generic S3 error: Error performing PUT http://h/b/x in 1ms, after 3 retries - "


def _told(wrong: Exception) -> LakewardError:
    return failure("s3://b/x", "b", "http://h", "written", wrong)


def _status(status: str, code: str | None = None, message: str = "Words.") -> exceptions.GenericError:
    body = "" if code is None else f": <?xml?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    return exceptions.GenericError(f"{_HEAD}Server returned non-2xx status code: {status}{body}\n\nDebug source: …")


@pytest.mark.parametrize(
    ("wrong", "kind", "sentence"),
    [
        (FileNotFoundError("x"), NotFoundError, "s3://b/x does not exist."),
        (
            FileNotFoundError("<Error><Code>NoSuchBucket</Code></Error>"),
            NotFoundError,
            "The bucket 'b' does not exist; create it, or name another.",
        ),
        (exceptions.AlreadyExistsError("x"), ExistsError, "s3://b/x is there already."),
        (exceptions.PreconditionError("x"), ExistsError, "s3://b/x is there already."),
        (
            exceptions.PermissionDeniedError("x"),
            DeniedError,
            "s3://b/x cannot be written: these keys may not do that (denied).",
        ),
        (
            _status("400 Bad Request", "ExpiredToken"),
            DeniedError,
            "s3://b/x cannot be written: the temporary keys have expired (ExpiredToken).",
        ),
        (
            _status("400 Bad Request", "InvalidToken"),
            DeniedError,
            "s3://b/x cannot be written: the session token is not valid (InvalidToken).",
        ),
        (
            _status("503 Service Unavailable", "SlowDown", "Less &amp; slower."),
            RetriableError,
            "s3://b/x cannot be written: the store answered SlowDown, Less & slower.",
        ),
        (
            _status("502 Bad Gateway"),
            RetriableError,
            "s3://b/x cannot be written: the store answered 502 Bad Gateway.",
        ),
        (
            _status("400 Bad Request", "EntityTooLarge"),
            InvalidError,
            "s3://b/x cannot be written: the store answered EntityTooLarge, Words.",
        ),
        (_status("429 Too Many Requests"), RetriableError, None),
        (_status("416 Range Not Satisfiable", "InvalidRange"), BehindEndError, None),
        (
            exceptions.GenericError(f"{_HEAD}HTTP error: error sending request\n\nDebug source: … Connection refused"),
            RetriableError,
            "s3://b/x cannot be written: nothing listens at http://h; check s3.endpoint.",
        ),
        (
            exceptions.GenericError(f"{_HEAD}HTTP error: error sending request\n\nDebug source: … kind: Timeout,"),
            RetriableError,
            "s3://b/x cannot be written: http://h did not answer in time.",
        ),
        (
            exceptions.GenericError("Something new.\nDebug source: …"),
            RetriableError,
            "s3://b/x cannot be written: Something new.",
        ),
    ],
)
def test_every_failure_is_of_its_kind_and_one_sentence(
    wrong: Exception, kind: type[LakewardError], sentence: str | None
) -> None:
    """Callers tell by the kind whether to ask again; people read the sentence."""
    told = _told(wrong)
    assert type(told) is kind
    assert told.code is ErrorCode.STORAGE
    assert "\n" not in told.message
    if sentence is not None:
        assert told.message == sentence


def test_a_store_that_repeats_the_signature_is_not_repeated() -> None:
    """AWS answers a wrong secret with what it signed and the access key; none of it is passed on."""
    body = (
        "<Error><Code>SignatureDoesNotMatch</Code><Message>No.</Message><AWSAccessKeyId>AKIA1</AWSAccessKeyId></Error>"
    )
    told = _told(exceptions.PermissionDeniedError(f"status code: 403 Forbidden: {body}"))
    assert "AKIA1" not in told.message
    assert "check s3.access-key and s3.secret-key (SignatureDoesNotMatch)" in told.message
