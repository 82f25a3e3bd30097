"""How a server encrypts: its certificate, the key of it, and whose certificates it trusts."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.port import Files
from lakeward.runtime.secret_text import SecretText

_VERIFY = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


@dataclass(frozen=True, slots=True)
class ServerTls:
    """Where certificates and keys are; `client_auth` is none, optional or required."""

    certificate: Path
    key: Path
    key_password: SecretText | None
    client_ca: Path | None
    client_auth: str

    @property
    def paths(self) -> list[Path]:
        """All of them."""
        return [path for path in (self.certificate, self.key, self.client_ca) if path is not None]


def new_context(files: ServerTls, disk: Files) -> ssl.SSLContext:
    """A context of what the files say now; INVALID_CONFIG names the one that cannot be used."""
    for path in files.paths:
        if not disk.exists(path):
            raise _wrong(path, "it is not there")
    if not disk.is_private(files.key):
        raise _wrong(files.key, f"others than its owner may read the key; `chmod 600 {files.key}` keeps it private")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    context.num_tickets = 0  # a ticket keeps somebody known whose certificate is not trusted any more
    # Without a password OpenSSL would ask the terminal for one.
    password = "" if files.key_password is None else files.key_password.reveal()
    try:
        context.load_cert_chain(files.certificate, files.key, password)
    except (OSError, ValueError) as wrong:
        raise _wrong(
            files.certificate, f"it and {files.key} do not make a certificate with its key ({wrong})"
        ) from None
    if files.client_ca is not None:
        try:
            context.load_verify_locations(files.client_ca)
        except (OSError, ValueError) as wrong:
            raise _wrong(files.client_ca, f"no authority can be read from it ({wrong})") from None
    context.verify_mode = _VERIFY[files.client_auth]
    return context


def _wrong(path: Path, why: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(f"{path} cannot be used to encrypt: {why}.")
