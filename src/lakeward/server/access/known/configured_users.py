"""The users whom options name: for all listeners, or for one of them."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.authentication import PLAIN_CREDENTIALS, PLAIN_JAAS, listener_jaas_key
from lakeward.options.kinds import MAP
from lakeward.runtime.saslprep import prepared_text
from lakeward.runtime.secret_text import SecretText
from lakeward.server.access.known.jaas import users_of
from lakeward.server.access.known.user_names import checked_name


def configured_users(settings: Mapping[str, str], listener: str) -> dict[str, str]:
    """Name → password on a listener: its own users or everybody's, and those of `security.sasl.plain.credentials`."""
    own = listener_jaas_key(listener)
    jaas = own if own in settings else PLAIN_JAAS.key
    found: dict[str, str] = {}
    for key, read in ((jaas, users_of), (PLAIN_CREDENTIALS.key, _pairs)):
        if key in settings:
            try:
                users = read(SecretText(key, settings[key]).reveal())
            except ValueError as wrong:
                raise _wrong(key, str(wrong)) from None
            found |= {_checked_name(key, name): _checked_password(key, one) for name, one in users.items()}
    return found


def first_user(text: SecretText) -> tuple[str, str]:
    """Name and password of `name:password`."""
    name, colon, password = text.reveal().strip().partition(":")
    if not colon:
        raise _wrong(text.key, "it is not of the form name:password")
    return name, password


def _pairs(text: str) -> Mapping[str, str]:
    try:
        found = MAP.parse(text)
    except ValueError:  # which may quote a password that holds a comma
        raise ValueError("it is not of the form name:password,name:password, each name once") from None
    if not found or not all(found.values()):
        raise ValueError("it names nobody, or somebody without a password")
    return found


def _checked_name(key: str, name: str) -> str:
    try:
        return checked_name(name)
    except LakewardError as wrong:
        raise _wrong(key, wrong.message.rstrip(".")) from wrong


def _checked_password(key: str, password: str) -> str:
    try:
        prepared_text(password)
    except ValueError as wrong:
        raise _wrong(key, f"a password cannot be taken: {wrong}") from None
    return password


def _wrong(key: str, why: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(f"'{key}' cannot be taken: {why}.")
