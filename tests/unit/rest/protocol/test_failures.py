"""Errors of the cluster in the protocol's words."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode
from lakeward.rest.protocol.failures import rest_error


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        (ErrorCode.DATABASE_NOT_EXIST, 404, "NoSuchNamespaceException"),
        (ErrorCode.TABLE_NOT_EXIST, 404, "NoSuchTableException"),
        (ErrorCode.AUTHENTICATE, 401, "NotAuthorizedException"),
        (ErrorCode.AUTHORIZATION, 403, "ForbiddenException"),
        (ErrorCode.NETWORK, 503, "ServiceUnavailableException"),
        (ErrorCode.INVALID_TABLE, 400, "BadRequestException"),
    ],
)
def test_each_kind_has_its_status_and_its_name(code: ErrorCode, status: int, kind: str) -> None:
    """So that readers raise what they have for it."""
    found = rest_error(code.error("a sentence")).to_json()
    assert found == {"error": {"message": "a sentence", "type": kind, "code": status}}
