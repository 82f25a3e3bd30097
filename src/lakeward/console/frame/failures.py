"""An error → what a page says: what happened, and what to do. No trace, and no secret."""

from __future__ import annotations

from typing import NamedTuple

from lakeward.errors import DeniedError, ErrorCode, InvalidError, LakewardError, NotFoundError, UnsupportedError
from lakeward.options.secrets import without_passwords


class Failure(NamedTuple):
    """A page that says why there is no other."""

    status: int
    title: str
    what: str
    todo: str


def failure_of(wrong: LakewardError) -> Failure:
    """What to say of an error of the cluster."""
    what = without_passwords(wrong.message)
    if wrong.code in (ErrorCode.NETWORK, ErrorCode.REQUEST_TIME_OUT):
        return Failure(
            503,
            "The cluster does not answer",
            what,
            "Start the server with `lakeward serve`, or start the console with --server and the right address. "
            "The page works again as soon as the cluster does.",
        )
    match wrong:
        case DeniedError():
            return Failure(
                403,
                "Not allowed",
                what,
                "Ask who runs the cluster for the right, which `lakeward acls create` grants, or log in as another.",
            )
        case NotFoundError():
            return Failure(404, "Not there", what, "It may have been dropped meanwhile; go back to the list.")
        case UnsupportedError():
            return Failure(501, "This cluster cannot do that", what, "A newer server may.")
        case InvalidError():
            return Failure(400, "Refused", what, "Change the request and send it again.")
        case _:
            return Failure(502, "The cluster reports an error", what, "Try again; its log says more if it goes on.")


#: What to say of requests that no page answers.
_BY_STATUS = {
    400: ("Not understood", "The request is not one that a browser sends.", "Go back and try again."),
    403: ("Refused", "The console does not take this request.", "Open the page again and send the form from there."),
    404: ("No such page", "Nothing is at this address.", "The navigation leads to every page there is."),
    405: ("Not this way", "This address is not asked like that.", "Go back to the page and use its form."),
    413: ("Too much", "The form is larger than the console takes.", "Send less, or use the command line."),
    421: (
        "Wrong name",
        "The console does not answer to the name in the address.",
        "Use the address that it printed when it started, or name this one with --name.",
    ),
    500: (
        "Something went wrong",
        "The console met an error that it did not expect. This is a bug in Lakeward.",
        "What the console printed in its terminal says more.",
    ),
}


def failure_of_status(status: int, detail: str = "") -> Failure:
    """What to say of a request that no page answers."""
    title, what, todo = _BY_STATUS.get(status, _BY_STATUS[500])
    return Failure(status, title, detail or what, todo)
