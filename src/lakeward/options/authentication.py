"""Rows for who may come in: which listeners ask for a login or encrypt, who is known, and bounds for strangers.

What contradicts itself is refused by `check_authentication`, above all a wish for security that no listener fulfils.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any, Self

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.endpoint import Endpoint
from lakeward.options.kinds import COUNT, DURATION, LIST, MAP, TEXT, Kind, choice
from lakeward.options.option import Option, OptionTable, Scope

PLAIN, SCRAM = "PLAIN", "SCRAM-SHA-256"
_SECOND_MS = 1000


class ListenerProtocol(enum.Enum):
    """How clients of a listener come in: whether they must log in, and whether what is said is encrypted."""

    asks_who: bool
    encrypts: bool

    def __new__(cls, word: str, asks_who: bool, encrypts: bool) -> Self:
        """One row: its word, and the two answers."""
        member = object.__new__(cls)
        member._value_ = word
        member.asks_who, member.encrypts = asks_who, encrypts
        return member

    PLAINTEXT = "PLAINTEXT", False, False
    SASL = "SASL", True, False
    SSL = "SSL", False, True
    SASL_SSL = "SASL_SSL", True, True


#: Other words for the same.
_WORDS = {
    **{one.value: one for one in ListenerProtocol},
    "SASL_PLAINTEXT": ListenerProtocol.SASL,
    "TLS": ListenerProtocol.SSL,
    "SASL_TLS": ListenerProtocol.SASL_SSL,
}


def _parse_protocol(text: str) -> ListenerProtocol:
    word = text.strip()
    if word.upper() not in _WORDS:
        raise ValueError(f"'{word}' is not one of {', '.join(one.value for one in ListenerProtocol)}")
    return _WORDS[word.upper()]


def _parse_protocols(text: str) -> dict[str, ListenerProtocol]:
    return {name: _parse_protocol(word) for name, word in MAP.parse(text).items()}


def _parse_mechanisms(text: str) -> tuple[str, ...]:
    found = tuple(one.upper() for one in LIST.parse(text))
    for one in found:
        if one not in (PLAIN, SCRAM):
            raise ValueError(f"'{one}' is not one of {PLAIN}, {SCRAM}")
    if not found:
        raise ValueError("no mechanism is named")
    return found


#: How one client comes in, or those of one listener.
PROTOCOL = Kind(
    f"one of {', '.join(one.value for one in ListenerProtocol)}", _parse_protocol, lambda protocol: protocol.value
)
_PROTOCOLS = Kind(
    "map", _parse_protocols, lambda found: ",".join(f"{name}:{protocol.value}" for name, protocol in found.items())
)
_MECHANISMS = Kind("list", _parse_mechanisms, ",".join)

AUTHENTICATION_OPTIONS = OptionTable(Scope.SERVER)
_row, _optional = AUTHENTICATION_OPTIONS.row, AUTHENTICATION_OPTIONS.optional

PROTOCOL_MAP = _row(
    "security.protocol.map",
    _PROTOCOLS,
    dict[str, ListenerProtocol](),
    "How clients of a listener come in, NAME:protocol separated by commas: PLAINTEXT, SASL (they log in), SSL (it is"
    " encrypted, TLS 1.2 or newer) or SASL_SSL. A listener that is not named is PLAINTEXT.",
)

# Logins
SASL_MECHANISMS = _row(
    "security.sasl.enabled.mechanisms",
    _MECHANISMS,
    (PLAIN, SCRAM),
    "How clients may log in: PLAIN sends the password, SCRAM-SHA-256 proves it.",
)
PLAIN_JAAS = _optional(
    "security.sasl.plain.jaas.config",
    TEXT,
    'Users as Java writes them: `… required user_NAME="password";`; itself, `${env:NAME}` or `file:/path`.',
    secret=True,
)
PLAIN_CREDENTIALS = _optional(
    "security.sasl.plain.credentials",
    TEXT,
    "More users, name:password separated by commas, who win over the above; itself, `${env:NAME}` or `file:/path`.",
    secret=True,
)
LISTENER_PREFIX = "security.sasl.listener.name."
_LISTENER_JAAS = ".plain.jaas.config"
AUTHENTICATION_OPTIONS.open_prefix(
    LISTENER_PREFIX, f"`<listener>{_LISTENER_JAAS}`, the listener in small letters: its users instead of everybody's."
)
FIRST_USER = _optional(
    "security.users.first",
    TEXT,
    "Who is made when there is no user yet, name:password; `${env:NAME}` or `file:/path` of a file with mode 0600, and"
    " by itself what the variable LAKEWARD_FIRST_USER says (Lakeward).",
    secret=True,
)
LOGIN_TIMEOUT = _row(
    "security.login.timeout", DURATION, 30 * _SECOND_MS, "Time to encrypt a connection and to log in (Lakeward)."
)
LOGIN_FAILURE_PAUSE = _row(
    "security.login.failure-pause",
    DURATION,
    500,
    "How long the answer to a wrong login takes; the more an address fails, the longer, up to 10 s (Lakeward).",
)
LOGIN_FAILURES = _row(
    "security.login.max-failures-per-minute",
    COUNT,
    30,
    "Wrong logins of one address in a minute; then its logins are told to try again later (Lakeward).",
)

# Encryption
TLS_CERTIFICATE = _optional(
    "security.tls.certificate-file",
    TEXT,
    "Certificate (PEM) of this server, with those between it and its authority behind; read again when it changes"
    " (Lakeward).",
)
TLS_KEY = _optional(
    "security.tls.key-file",
    TEXT,
    "Key (PEM) of that certificate, in a file that only its owner may read; else it is in the same file (Lakeward).",
)
TLS_KEY_PASSWORD = _optional(
    "security.tls.key-password", TEXT, "Password of that key; itself, or a reference (Lakeward).", secret=True
)
TLS_CLIENT_CA = _optional(
    "security.tls.client-ca-file",
    TEXT,
    "Certificates (PEM) of the authorities whose clients are known by their certificates (Lakeward).",
)
TLS_CLIENT_AUTH = _row(
    "security.tls.client-auth",
    choice("none", "optional", "required"),
    "none",
    "Whether clients may, or must, show a certificate of security.tls.client-ca-file (Lakeward).",
)
TLS_PRINCIPAL = _row(
    "security.tls.principal",
    choice("subject", "common-name"),
    "subject",
    "Who the owner of a certificate is: its whole subject, `CN=alice,O=example`, or the common name alone (Lakeward).",
)

#: Options of security that are obeyed.
HONOURED = tuple(row.key for row in AUTHENTICATION_OPTIONS)
_OF_LOGINS = (
    *(SASL_MECHANISMS, PLAIN_JAAS, PLAIN_CREDENTIALS, FIRST_USER),
    *(LOGIN_FAILURE_PAUSE, LOGIN_FAILURES),
)
_OF_ENCRYPTION = (TLS_CERTIFICATE, TLS_KEY, TLS_KEY_PASSWORD, TLS_CLIENT_CA, TLS_CLIENT_AUTH, TLS_PRINCIPAL)


def is_listener_jaas(key: str) -> bool:
    """Whether an option names the users of one listener."""
    return key.startswith(LISTENER_PREFIX) and key.endswith(_LISTENER_JAAS) and bool(_listener_of(key))


def listener_jaas_key(listener: str) -> str:
    """The option that names the users of a listener."""
    return f"{LISTENER_PREFIX}{listener.lower()}{_LISTENER_JAAS}"


def protocol_of(settings: Mapping[str, str], listener: str) -> ListenerProtocol:
    """How clients of a listener come in."""
    return PROTOCOL_MAP.read(settings).get(listener, ListenerProtocol.PLAINTEXT)


def check_authentication(settings: Mapping[str, str], listeners: Iterable[Endpoint]) -> None:
    """Refuse a wish for security that no listener fulfils, and a listener that cannot fulfil its own."""
    names = [listener.name for listener in listeners]
    protocols = {name: protocol_of(settings, name) for name in names}
    for name, protocol in PROTOCOL_MAP.read(settings).items():
        if name not in protocols and protocol is not ListenerProtocol.PLAINTEXT:
            raise _refusal(f"'{PROTOCOL_MAP.key}' names '{name}', and no listener has that name")
    for name, protocol in protocols.items():
        _check_name(name, protocol)
    asks = any(protocol.asks_who for protocol in protocols.values())
    encrypts = any(protocol.encrypts for protocol in protocols.values())
    if not asks:
        _refuse_in_vain(settings, _OF_LOGINS, "asks for a login", "SASL")
    if not asks and not encrypts:
        _refuse_in_vain(settings, (LOGIN_TIMEOUT,), "asks for a login or encrypts", "SASL")
    _check_listener_users(settings, protocols)
    _check_encryption(settings, encrypts)


def _check_name(name: str, protocol: ListenerProtocol) -> None:
    """A name that says SASL, SSL or TLS is a wish, too."""
    word = name.upper()
    asks_in_vain = "SASL" in word and not protocol.asks_who
    encrypts_in_vain = ("SSL" in word or "TLS" in word) and not protocol.encrypts
    if asks_in_vain or encrypts_in_vain:
        raise _refusal(
            f"The listener '{name}' sounds like more than {protocol.value}, which it is: say in '{PROTOCOL_MAP.key}'"
            " what it is to be, or give it another name"
        )


def _check_listener_users(settings: Mapping[str, str], protocols: Mapping[str, ListenerProtocol]) -> None:
    asking = {listener_jaas_key(name) for name, protocol in protocols.items() if protocol.asks_who}
    for key in settings:
        if key.startswith(LISTENER_PREFIX) and key not in asking:
            raise _refusal(
                f"'{key}' is set, and no listener that asks for a login has that name; the option of a listener is"
                f" '{listener_jaas_key('<name>')}', in small letters"
            )


def _check_encryption(settings: Mapping[str, str], encrypts: bool) -> None:
    if not encrypts:
        _refuse_in_vain(settings, _OF_ENCRYPTION, "encrypts", "SSL")
        return
    if TLS_CERTIFICATE.key not in settings:
        raise _refusal(f"A listener is to encrypt, and '{TLS_CERTIFICATE.key}' is not set")
    wants_clients = TLS_CLIENT_AUTH.read(settings) != "none"
    if wants_clients and TLS_CLIENT_CA.key not in settings:
        raise _refusal(f"'{TLS_CLIENT_AUTH.key}' is set, and '{TLS_CLIENT_CA.key}', which says whom to trust, is not")
    for row in (TLS_CLIENT_CA, TLS_PRINCIPAL):
        if row.key in settings and not wants_clients:
            raise _refusal(
                f"'{row.key}' is set, and '{TLS_CLIENT_AUTH.key}' is none: nobody is asked for a certificate"
            )


def _refuse_in_vain(settings: Mapping[str, str], rows: Iterable[Option[Any]], does: str, protocol: str) -> None:
    for row in rows:
        if row.key in settings:
            raise _refusal(
                f"'{row.key}' is set, and no listener {does}: the server would be open to everybody who reaches its"
                f" port. Set '{PROTOCOL_MAP.key}', such as CLIENT:{protocol} for a listener CLIENT, or leave it out"
            )


def _listener_of(key: str) -> str:
    return key.removeprefix(LISTENER_PREFIX).removesuffix(_LISTENER_JAAS)


def _refusal(what: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(f"{what}.")
