"""ClientTls: how a client encrypts, whom it trusts, and the certificate that it shows."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.secret_text import SecretText

_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class ClientTls:
    """TLS 1.2 or newer, by certificates of a CA file or of the authorities that this machine trusts."""

    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    key_password: SecretText | None = None
    verify_hostname: bool = True
    _made: dict[tuple[object, ...], ssl.SSLContext] = field(default_factory=dict, repr=False, compare=False)

    def context(self) -> ssl.SSLContext:
        """What OpenSSL needs to know; made again when one of the files has changed."""
        files = (self.ca_file, self.certificate_file, self.key_file)
        stamp = tuple(_stamp(path) for path in files)
        found = self._made.get(stamp)
        if found is None:
            found = self._new_context()
            self._made.clear()
            self._made[stamp] = found
        return found

    def _new_context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ValueError) as wrong:
            raise _unusable(f"{self.ca_file} holds no certificates of an authority", wrong) from None
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.check_hostname = self.verify_hostname
        if self.certificate_file is not None:
            self._show(context, self.certificate_file)
        return context

    def _show(self, context: ssl.SSLContext, certificate: str) -> None:
        """Have the client show a certificate, with a key that is its alone."""
        key = self.key_file or certificate
        if Path(key).stat().st_mode & _OTHERS:
            raise ErrorCode.INVALID_CONFIG.error(
                f"Others than its owner may read the key in {key}; `chmod 600 {key}` keeps it private."
            )
        # Without a password to give, OpenSSL would ask for one at the terminal.
        password = "" if self.key_password is None else self.key_password.reveal()
        try:
            context.load_cert_chain(certificate, self.key_file, password)
        except (OSError, ValueError) as wrong:
            raise _unusable(f"{certificate} and {key} are no certificate with its key", wrong) from None


def refusal(address: str, wrong: ssl.SSLError) -> LakewardError:
    """Why no encrypted connection to an address came about; asking again would not help."""
    if isinstance(wrong, ssl.SSLCertVerificationError):
        why = f"its certificate is not trusted: {wrong.verify_message.rstrip('.')}"
    elif wrong.reason == "WRONG_VERSION_NUMBER":
        why = "what answers there does not speak TLS"
    else:
        why = f"TLS failed: {wrong.reason or wrong}"
    return ErrorCode.AUTHENTICATE.error(f"No encrypted connection to {address}: {why}.")


def _stamp(path: str | None) -> object:
    if path is None:
        return None
    try:
        found = Path(path).stat()
    except OSError as wrong:
        raise ErrorCode.INVALID_CONFIG.error(f"{path} cannot be read: {wrong.strerror or wrong}.") from None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _unusable(what: str, wrong: Exception) -> LakewardError:
    why = getattr(wrong, "reason", None) or getattr(wrong, "strerror", None) or wrong
    return ErrorCode.INVALID_CONFIG.error(f"{what}: {why}.")
