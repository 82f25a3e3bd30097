"""The server's own certificate, and whose certificates it trusts; read again when a file changes."""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options import authentication as rows
from lakeward.options.server_options import ServerOptions
from lakeward.runtime.files.port import FileFacts, Files
from lakeward.runtime.secret_text import SecretText

_log = logging.getLogger(__name__)
_VERIFY = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Where certificates and keys are."""

    certificate: Path
    key: Path
    key_password: SecretText | None
    client_ca: Path | None
    client_auth: str

    @classmethod
    def of(cls, options: ServerOptions) -> TlsFiles | None:
        """What options say; None when they name no certificate."""
        certificate = options.get(rows.TLS_CERTIFICATE)
        if certificate is None:
            return None
        password, client_ca = options.get(rows.TLS_KEY_PASSWORD), options.get(rows.TLS_CLIENT_CA)
        return cls(
            certificate=Path(certificate),
            key=Path(options.get(rows.TLS_KEY) or certificate),
            key_password=None if password is None else SecretText(rows.TLS_KEY_PASSWORD.key, password),
            client_ca=None if client_ca is None else Path(client_ca),
            client_auth=options.get(rows.TLS_CLIENT_AUTH),
        )

    @property
    def paths(self) -> list[Path]:
        """All of them."""
        return [path for path in (self.certificate, self.key, self.client_ca) if path is not None]


class Certificates:
    """What connections are encrypted with from now on; those that are there stay as they are."""

    def __init__(self, files: TlsFiles, disk: Files) -> None:
        self._files = files
        self._disk = disk
        self._seen = self._facts()
        self._context = _new_context(files, disk)

    def context(self) -> ssl.SSLContext:
        """For the next connection."""
        return self._context

    def look(self) -> None:
        """Take files that were changed. What cannot be used is reported, and what was used before stays."""
        seen = self._facts()
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._context = _new_context(self._files, self._disk)
        except LakewardError as wrong:
            _log.error("%s New connections are encrypted as before", wrong.message)
        else:
            _log.info("new connections are encrypted with %s as it is now", self._files.certificate)

    def _facts(self) -> list[FileFacts | None]:
        return [self._facts_of(path) for path in self._files.paths]

    def _facts_of(self, path: Path) -> FileFacts | None:
        try:
            return self._disk.facts(path)
        except OSError:
            return None


def _new_context(files: TlsFiles, disk: Files) -> ssl.SSLContext:
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
