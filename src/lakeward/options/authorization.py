"""Rows for what somebody may do: grants, the record of what was done, and how much one may ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.principal import USER_TYPE, Principal
from lakeward.options.authentication import HONOURED as HONOURED_AT_THE_DOOR
from lakeward.options.authentication import is_listener_jaas
from lakeward.options.kinds import BOOL, COUNT, SIZE, TEXT, Kind, choice, integer
from lakeward.options.option import OptionTable, Scope

_MB = 1 << 20


def _parse_principals(text: str) -> tuple[Principal, ...]:
    found = []
    for one in filter(None, (part.strip() for part in text.split(";"))):
        kind, colon, name = one.partition(":")
        if not colon or not kind.strip() or not name.strip():
            raise ValueError(f"'{one}' is not a principal; write {USER_TYPE}:name;{USER_TYPE}:name")
        found.append(Principal(name.strip(), kind.strip()))
    return tuple(found)


def _show_principals(principals: tuple[Principal, ...]) -> str:
    return ";".join(map(str, principals))


def _rates(name: str, one: Kind[int]) -> Kind[Mapping[str, int]]:
    """`name:rate;name:rate`; a name may hold colons and commas, as those of certificates do."""

    def parse(text: str) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for part in filter(None, (part.strip() for part in text.split(";"))):
            user, colon, rate = part.rpartition(":")
            if not colon or not user.strip():
                raise ValueError(f"'{part}' has no rate; write name:rate;name:rate")
            if user.strip() in found:
                raise ValueError(f"'{user.strip()}' is given twice")
            found[user.strip()] = one.parse(rate)
        return found

    def show(rates: Mapping[str, int]) -> str:
        return ";".join(f"{user}:{one.show(rate)}" for user, rate in rates.items())

    return Kind(name, parse, show)


PRINCIPALS = Kind("principals", _parse_principals, _show_principals)
_RATE = integer(low=0)
_no_rates: Callable[[], Mapping[str, int]] = dict

AUTHORIZATION_OPTIONS = OptionTable(Scope.SERVER)
_row, _optional, _switch = AUTHORIZATION_OPTIONS.row, AUTHORIZATION_OPTIONS.optional, AUTHORIZATION_OPTIONS.switch

# Grants
AUTHORIZER_ENABLED = _switch(
    "authorizer.enabled", "Whether grants are checked; then whoever was granted nothing may do nothing."
)
AUTHORIZER_TYPE = _row(
    "authorizer.type", choice("default"), "default", "Which authorizer decides; there is the one of Apache Fluss."
)
SUPER_USERS = _row("super.users", PRINCIPALS, (), "Who may do everything, without a grant: User:name;User:name.")
IGNORE_CASE = _switch(
    "security.acl.principal.ignore-case", "Whether names of principals are the same in capitals and small letters."
)
ACLS_MAX = _row("authorizer.max-acls", COUNT, 10_000, "Grants that are kept at most (Lakeward).")
TIERING_CALLS = _row(
    "authorizer.tiering-calls",
    choice("granted", "open"),
    "granted",
    "Whether a tiering service needs WRITE on the cluster for its reports; `open` as Apache Fluss has it, where all who"
    " got in may make them (Lakeward).",
)

# The record of what was done
AUDIT_ENABLED = _optional(
    "audit.enabled",
    BOOL,
    "Whether it is written down who changed what, and who was refused; unset, it is where grants are checked or a"
    " listener asks who somebody is (Lakeward).",
)
AUDIT_DIR = _optional("audit.dir", TEXT, "The directory of that record, audit.jsonl; unset, data.dir (Lakeward).")
AUDIT_FILE_SIZE = _row("audit.max-file-size", SIZE, 16 * _MB, "Size at which the record begins a new file (Lakeward).")
AUDIT_FILES = _row("audit.max-files", COUNT, 10, "Files of the record that are kept, the newest included (Lakeward).")

# How much one may ask for
QUOTA_BYTES = _row(
    "quota.bytes-per-second",
    SIZE,
    0,
    "Bytes a second, of requests and answers, that one principal may use before the next requests wait; 0 is no limit"
    " (Lakeward).",
    dynamic=True,
)
QUOTA_REQUESTS = _row(
    "quota.requests-per-second",
    _RATE,
    0,
    "Requests a second that one principal may send before they wait; 0 is no limit (Lakeward).",
    dynamic=True,
)
QUOTA_USERS_BYTES = _row(
    "quota.users.bytes-per-second",
    _rates("sizes by user", SIZE),
    _no_rates(),
    "The same for some users by name, name:size;name:size (Lakeward).",
    dynamic=True,
)
QUOTA_USERS_REQUESTS = _row(
    "quota.users.requests-per-second",
    _rates("numbers by user", _RATE),
    _no_rates(),
    "The same for some users by name, name:number;name:number (Lakeward).",
    dynamic=True,
)

#: Options of security that are obeyed, or that say nothing a server without neighbours could break.
HONOURED = (
    AUTHORIZER_ENABLED.key,
    AUTHORIZER_TYPE.key,
    SUPER_USERS.key,
    IGNORE_CASE.key,
    ACLS_MAX.key,
    TIERING_CALLS.key,
    "acl.notification.expiration-time",
)


def check_authorizer(settings: Mapping[str, str]) -> None:
    """Refuse settings of grants where it is not said whether grants are checked: somebody believes that they are."""
    AUTHORIZER_TYPE.read(settings)  # whoever names another one is told that there is none
    if AUTHORIZER_ENABLED.key in settings:
        return
    for key in (SUPER_USERS.key, IGNORE_CASE.key, ACLS_MAX.key, TIERING_CALLS.key):
        if key in settings:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{key}' is set and '{AUTHORIZER_ENABLED.key}' is not: no grant would be checked, and the server would"
                f" be open to everybody who reaches its port. Set '{AUTHORIZER_ENABLED.key}', to true or to false."
            )


# -- options of security that nothing here obeys: who sets one is refused, lest a server be open unawares

_FAMILIES = ("security.", "authorizer.", "super.users", "acl.")
#: Keys that some part of the server obeys.
_HONOURED = frozenset((*HONOURED_AT_THE_DOOR, *HONOURED))


def is_of_security(key: str) -> bool:
    """Whether an option says who may do what."""
    return key.startswith(_FAMILIES)


def is_refused(key: str) -> bool:
    """Whether an option says who may do what, and nothing here obeys it."""
    return is_of_security(key) and key not in _HONOURED and not is_listener_jaas(key)


def check_security(settings: Mapping[str, str]) -> None:
    """Refuse every option of security that nothing here obeys."""
    for key in settings:
        if is_refused(key):
            raise _refusal(f"'{key}' is set")


def _refusal(what: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(
        f"{what}, and nothing here obeys it: the server would be open to everybody who reaches its port, or more open"
        " than somebody believes. Leave it out to start such a server, in a network you trust."
    )
