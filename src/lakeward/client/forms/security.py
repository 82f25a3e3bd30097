"""Options of security as values: who a client is, whom it trusts. What contradicts itself is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options import client as rows
from lakeward.options.authentication import ListenerProtocol
from lakeward.options.option import Option
from lakeward.rpc.client_security import ClientSecurity
from lakeward.rpc.client_tls import ClientTls
from lakeward.rpc.login import Login
from lakeward.runtime.secret_text import SecretText

_LOGIN_ROWS = (rows.SASL_MECHANISM, rows.SASL_USERNAME, rows.SASL_PASSWORD, rows.SASL_JAAS)
_TLS_ROWS = (rows.TLS_CA, rows.TLS_CERTIFICATE, rows.TLS_KEY, rows.TLS_KEY_PASSWORD, rows.TLS_VERIFY_HOSTNAME)
_JAAS_ENTRY = re.compile(r'(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)


def security_of(given: Mapping[str, str]) -> ClientSecurity:
    """How a client with these options comes in; INVALID_CONFIG says what is missing or in vain.

    Without `client.security.protocol`, credentials mean SASL, and certificates TLS.
    """
    has_login, has_tls = _first_given(given, _LOGIN_ROWS) is not None, _first_given(given, _TLS_ROWS) is not None
    if rows.SECURITY_PROTOCOL.key in given:
        protocol = rows.SECURITY_PROTOCOL.read(given)
        _refuse_in_vain(given, _LOGIN_ROWS if not protocol.asks_who else (), protocol)
        _refuse_in_vain(given, _TLS_ROWS if not protocol.encrypts else (), protocol)
        has_login, has_tls = protocol.asks_who, protocol.encrypts
    return ClientSecurity(_login(given) if has_login else None, _tls(given) if has_tls else None)


def _refuse_in_vain(given: Mapping[str, str], family: tuple[Option[Any], ...], protocol: ListenerProtocol) -> None:
    vain = _first_given(given, family)
    if vain is not None:
        word = "SASL" if vain in _LOGIN_ROWS else "SSL"
        raise _wrong(f"'{vain.key}' is given, and '{rows.SECURITY_PROTOCOL.key}' is {protocol.value}, without {word}")


def _first_given(given: Mapping[str, str], family: tuple[Option[Any], ...]) -> Option[Any] | None:
    return next((row for row in family if row.key in given), None)


def _login(given: Mapping[str, str]) -> Login:
    user, password = rows.SASL_USERNAME.read(given), rows.SASL_PASSWORD.read(given)
    jaas = rows.SASL_JAAS.read(given)
    if jaas is not None:
        if user is not None or password is not None:
            raise _wrong(f"'{rows.SASL_JAAS.key}' names user and password, so the two are not given beside it")
        user, password = _of_jaas(SecretText(rows.SASL_JAAS.key, jaas).reveal())
    if user is None or password is None:
        missing = rows.SASL_USERNAME if user is None else rows.SASL_PASSWORD
        raise _wrong(f"a login needs '{missing.key}', too")
    named = SecretText(rows.SASL_USERNAME.key, user).reveal()
    secret = SecretText(rows.SASL_PASSWORD.key, password)
    for row, text in ((rows.SASL_USERNAME, named), (rows.SASL_PASSWORD, secret.reveal())):
        if not text:
            raise _wrong(f"'{row.key}' is empty")
    return Login(rows.SASL_MECHANISM.read(given), named, secret)


def _of_jaas(text: str) -> tuple[str | None, str | None]:
    """User and password of the one line that Java's clients know: `… required username="u" password="p";`."""
    entries = {name: re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL) for name, value in _JAAS_ENTRY.findall(text)}
    if "username" not in entries or "password" not in entries:
        raise _wrong(f"""'{rows.SASL_JAAS.key}' is not of the form … required username="…" password="…";""")
    return entries["username"], entries["password"]


def _tls(given: Mapping[str, str]) -> ClientTls:
    certificate, key = rows.TLS_CERTIFICATE.read(given), rows.TLS_KEY.read(given)
    password = rows.TLS_KEY_PASSWORD.read(given)
    if certificate is None and (key is not None or password is not None):
        needy = rows.TLS_KEY if key is not None else rows.TLS_KEY_PASSWORD
        raise _wrong(f"'{needy.key}' needs '{rows.TLS_CERTIFICATE.key}', too")
    tls = ClientTls(
        ca_file=rows.TLS_CA.read(given),
        certificate_file=certificate,
        key_file=key,
        key_password=None if password is None else SecretText(rows.TLS_KEY_PASSWORD.key, password),
        verify_hostname=rows.TLS_VERIFY_HOSTNAME.read(given),
    )
    tls.context()  # a file that cannot be used is told at once, not as a server that cannot be reached
    return tls


def _wrong(what: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(f"Options of security: {what}.")
