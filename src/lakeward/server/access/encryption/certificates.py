"""The server's own certificate, and whose certificates it trusts; read again when a file changes."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path

from lakeward.errors import LakewardError
from lakeward.options import authentication as rows
from lakeward.options.server_options import ServerOptions
from lakeward.rpc.server_tls import ServerTls, new_context
from lakeward.runtime.files.port import FileFacts, Files
from lakeward.runtime.secret_text import SecretText

_log = logging.getLogger(__name__)


class Certificates:
    """What connections are encrypted with from now on; those that are there stay as they are."""

    def __init__(self, files: ServerTls, disk: Files) -> None:
        self._files = files
        self._disk = disk
        self._seen = self._facts()
        self._context = new_context(files, disk)

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
            self._context = new_context(self._files, self._disk)
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


def tls_of(options: ServerOptions) -> ServerTls | None:
    """What options say; None when they name no certificate."""
    certificate = options.get(rows.TLS_CERTIFICATE)
    if certificate is None:
        return None
    password, client_ca = options.get(rows.TLS_KEY_PASSWORD), options.get(rows.TLS_CLIENT_CA)
    return ServerTls(
        certificate=Path(certificate),
        key=Path(options.get(rows.TLS_KEY) or certificate),
        key_password=None if password is None else SecretText(rows.TLS_KEY_PASSWORD.key, password),
        client_ca=None if client_ca is None else Path(client_ca),
        client_auth=options.get(rows.TLS_CLIENT_AUTH),
    )
