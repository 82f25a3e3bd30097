"""Keys: our credentials, as obstore asks for them.

They are always given this way, also when they never change: otherwise obstore would mix in what it finds in the
environment, such as the session token of other keys.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakeward.errors import LakewardError
from lakeward.remote.s3.credentials import CredentialSource

if TYPE_CHECKING:
    from obstore.store import S3Credential


class Keys:
    """Called by obstore on one of its threads; remembers why there were none, which obstore tells less well."""

    def __init__(self, source: CredentialSource) -> None:
        self._source = source
        self.failure: LakewardError | None = None

    def __call__(self) -> S3Credential:
        """The keys of now."""
        try:
            found = self._source()
        except LakewardError as wrong:
            self.failure = wrong
            raise
        self.failure = None
        expires_ms = found.expires_ms
        return {
            "access_key_id": found.access_key,
            "secret_access_key": found.secret_key,
            "token": found.session_token,
            "expires_at": None if expires_ms is None else datetime.fromtimestamp(expires_ms / 1000, UTC),
        }
