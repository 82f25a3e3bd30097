"""Errors in the protocol's shape: `{"error": {"message", "type", "code"}}`. No trace, and no secret."""

from __future__ import annotations

from typing import Any

from lakeward.errors import (
    DeniedError,
    ErrorCode,
    InvalidError,
    LakewardError,
    NotFoundError,
    RetriableError,
    UnsupportedError,
)
from lakeward.options.secrets import without_passwords


class RestError(Exception):
    """A refusal: its status, its name in the protocol, and a sentence."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message

    def to_json(self) -> dict[str, Any]:
        """As it is answered."""
        return {"error": {"message": self.message, "type": self.kind, "code": self.status}}


def no_namespace(name: str) -> RestError:
    """There is no such namespace."""
    return RestError(404, "NoSuchNamespaceException", f"Namespace does not exist: {name}")


def no_table(name: object, why: str = "") -> RestError:
    """There is no such table, or not in this catalog."""
    return RestError(404, "NoSuchTableException", f"Table does not exist: {name}{f' ({why})' if why else ''}")


def no_view(name: object) -> RestError:
    """There are no views."""
    return RestError(404, "NoSuchViewException", f"View does not exist: {name} (this catalog has no views)")


def no_such_operation(message: str) -> RestError:
    """Not done here."""
    return RestError(406, "UnsupportedOperationException", message)


def forbidden(message: str) -> RestError:
    """Not for them."""
    return RestError(403, "ForbiddenException", message)


def bad_request(message: str) -> RestError:
    """Not understood."""
    return RestError(400, "BadRequestException", message)


def not_authorized(message: str) -> RestError:
    """Who is it?"""
    return RestError(401, "NotAuthorizedException", message)


def rest_error(wrong: LakewardError) -> RestError:
    """An error of the cluster in the protocol's words."""
    message = without_passwords(wrong.message)
    match wrong.code:
        case ErrorCode.DATABASE_NOT_EXIST:
            return RestError(404, "NoSuchNamespaceException", message)
        case ErrorCode.TABLE_NOT_EXIST:
            return RestError(404, "NoSuchTableException", message)
        case ErrorCode.AUTHENTICATE:
            return not_authorized(message)
        case ErrorCode.NETWORK | ErrorCode.REQUEST_TIME_OUT:
            return RestError(503, "ServiceUnavailableException", message)
    match wrong:
        case DeniedError():
            return forbidden(message)
        case NotFoundError():
            return RestError(404, "NotFoundException", message)
        case UnsupportedError():
            return no_such_operation(message)
        case InvalidError():
            return bad_request(message)
        case RetriableError():
            return RestError(503, "ServiceUnavailableException", message)
        case _:
            return RestError(500, "InternalServerError", message)
