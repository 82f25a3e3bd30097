"""Who gets in, and what everybody may do."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.findings.check import Check, Verdict, error, note, warning
from lakeward.model.acl import ANY_NAME, EVERYBODY, Operation
from lakeward.options.authentication import PLAIN, SASL_MECHANISMS, TLS_CLIENT_AUTH, ListenerProtocol, protocol_of
from lakeward.options.authorization import AUTHORIZER_ENABLED
from lakeward.options.server import BIND_LISTENERS
from lakeward.server.access.open_doors import is_of_this_machine

_CHANGING = {Operation.ALL, Operation.WRITE, Operation.CREATE, Operation.DROP, Operation.ALTER}
_HOW = "docs/guides/security.md says how"


def _open_listener(facts: Facts) -> Iterator[Verdict]:
    options = facts.options or {}
    shows_certificates = TLS_CLIENT_AUTH.read(options) == "required"
    for listener in BIND_LISTENERS.read(options):
        protocol = protocol_of(options, listener.name)
        if is_of_this_machine(listener.host):
            continue
        if not protocol.asks_who and not (protocol.encrypts and shows_certificates):
            yield error(
                listener,
                f"The listener {listener} asks nobody for a login: whoever reaches it may read, change and drop"
                " everything.",
                f"Bind it to localhost, or set 'security.protocol.map' to {listener.name}:SASL_SSL and make users with"
                f" `lakeward users create`; {_HOW}.",
            )
        elif not protocol.encrypts:
            sends = PLAIN in SASL_MECHANISMS.read(options)
            yield warning(
                listener,
                f"The listener {listener} is not encrypted: whoever is on the way reads rows"
                f"{' and the passwords of PLAIN' if sends else ''}.",
                f"Set 'security.protocol.map' to {listener.name}:{ListenerProtocol.SASL_SSL.value} and name a"
                f" certificate; {_HOW}.",
            )


def _grants(facts: Facts) -> Iterator[Verdict]:
    options = facts.options or {}
    listeners = BIND_LISTENERS.read(options)
    if not AUTHORIZER_ENABLED.read(options):
        if any(protocol_of(options, listener.name).asks_who for listener in listeners):
            yield note(
                AUTHORIZER_ENABLED.key,
                "Users log in, and then each of them may do everything: grants are not checked.",
                f"Set '{AUTHORIZER_ENABLED.key}' = true and 'super.users', then `lakeward acls grant …`.",
            )
        return
    for acl in facts.acls or ():
        is_wide = acl.resource.name == ANY_NAME
        if acl.principal == EVERYBODY and acl.operation in _CHANGING:
            yield error(
                acl.resource,
                f"Everybody may {acl.operation.name} {acl.resource}.",
                "Take it back and grant it to those who need it: `lakeward acls list`, `lakeward acls revoke …`.",
            )
        elif acl.principal == EVERYBODY or (is_wide and acl.operation is Operation.ALL):
            yield note(
                acl.resource,
                f"{acl.principal} may {acl.operation.name} {acl.resource}, which is wide.",
                "Grant what is needed on the databases or tables that are: `lakeward acls list`.",
            )


def _secret_files(facts: Facts) -> Iterator[Verdict]:
    assert facts.directory is not None
    for path, mode in facts.directory.open_secrets:
        yield error(path, f"Others than its owner may read {path} (mode {mode:04o}).", f"`chmod 600 {path}`.")


def _weak_password(facts: Facts) -> Iterator[Verdict]:
    if facts.has_weak_password:
        yield error(
            "login",
            "The password that you logged in with is one that everybody tries first.",
            "Set another one: `lakeward users passwd NAME`.",
        )


SECURITY_CHECKS = (
    Check(
        "open-listener",
        "Whether addresses that other machines reach ask for a login and encrypt.",
        _open_listener,
        needs=("options",),
    ),
    Check("grants", "Whether grants are checked, and who may do what everywhere.", _grants, needs=("options", "acls")),
    Check("secret-files", "Whether files with secrets are for their owner alone.", _secret_files, needs=("directory",)),
    Check(
        "weak-password",
        "Whether the password of this login is one of those that everybody tries.",
        _weak_password,
        needs=("has_weak_password",),
    ),
)
