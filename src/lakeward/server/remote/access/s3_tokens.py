"""S3Tokens: temporary keys to what clients may read of a bucket, as an answer to them.

A session of `s3.assumed.role.arn`, or where no role is named a session of the server's own user. Clients that do not
send the token of a session, as pyfluss 1.0.0, need keys that live without one: `remote.security-token.access-key`, or
the server's own, when `remote.security-token.allow-static` says so and no session can be had.
"""

from __future__ import annotations

import json
import logging

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options import remote_store as rows
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.messages.shared import PbKeyValue
from lakeward.protocol.messages.snapshot import GetFileSystemSecurityTokenResponse
from lakeward.remote.s3.credential_chain import found_credentials
from lakeward.remote.s3.credentials import Credentials, CredentialSource
from lakeward.remote.s3.read_policy import read_policy
from lakeward.remote.s3.s3_settings import S3Settings
from lakeward.remote.s3.sts import Sts
from lakeward.runtime.clock import Clock

_log = logging.getLogger(__name__)
_DURATION_S_MIN, _DURATION_S_MAX = 900, 43_200
_ALLOW = rows.TOKEN_ALLOW_STATIC.key


class S3Tokens:
    """Asks for keys to a prefix of a bucket and puts them into an answer. Blocks."""

    def __init__(self, scheme: str, bucket: str, prefix: str, options: ServerOptions, clock: Clock) -> None:
        self._scheme = scheme
        self._settings = settings = S3Settings.of(options.texts)
        self._policy = read_policy(bucket, prefix, settings.region)
        self._own: CredentialSource = found_credentials(settings, clock)
        self._sts = Sts(settings.sts_url(), settings.region, clock)
        duration_s = options.get(rows.TOKEN_DURATION) // 1000
        self._duration_s = min(max(duration_s, _DURATION_S_MIN), _DURATION_S_MAX)
        self._may_be_static = options.get(rows.TOKEN_ALLOW_STATIC)
        self._clients = _client_keys(options)
        self._is_told = False

    def __call__(self) -> GetFileSystemSecurityTokenResponse:
        """A token of now; SECURITY_TOKEN says why there is none and what would help."""
        if self._clients is not None:
            return self._answer(self._clients)
        own = self._own()
        try:
            return self._answer(self._session(own))
        except LakewardError as wrong:
            if not self._may_be_static:
                raise ErrorCode.SECURITY_TOKEN.error(f"{wrong.message} {self._remedy()}") from wrong
            if not self._is_told:
                _log.warning("%s Clients are given the server's own keys, as %s allows.", wrong, _ALLOW)
                self._is_told = True
            return self._answer(own)

    def _session(self, own: Credentials) -> Credentials:
        settings = self._settings
        if settings.client_role is not None:
            return self._sts.assume_role(
                own, settings.client_role, settings.role_session, self._duration_s, self._policy
            )
        if own.session_token is not None:
            raise ErrorCode.SECURITY_TOKEN.error("The server's keys are temporary ones, which cannot give others.")
        return self._sts.federation_token(own, settings.role_session, self._duration_s, self._policy)

    def _remedy(self) -> str:
        role = "" if self._settings.client_role else f"Name a role for clients in '{rows.S3_CLIENT_ROLE.key}', or give"
        keys = f"them keys in '{rows.TOKEN_ACCESS_KEY.key}', or the server's own by '{_ALLOW}'."
        return f"{role or 'Give'} {keys if role else keys.replace('them', 'clients', 1)}"

    def _answer(self, keys: Credentials) -> GetFileSystemSecurityTokenResponse:
        settings = self._settings
        token = {
            "version": 1,
            "access_key_id": keys.access_key,
            "access_key_secret": keys.secret_key,
            "security_token": keys.session_token,
        }
        info = {
            "fs.s3a.endpoint": settings.endpoint,
            "fs.s3a.endpoint.region": settings.region,
            "fs.s3a.path.style.access": "true" if settings.path_style else "false",
        }
        return GetFileSystemSecurityTokenResponse(
            schema=self._scheme,
            token=json.dumps(token).encode(),
            expiration_time=keys.expires_ms,
            addition_info=tuple(PbKeyValue(key=key, value=value) for key, value in info.items() if value is not None),
        )


def _client_keys(options: ServerOptions) -> Credentials | None:
    access_key, secret_key = options.get(rows.TOKEN_ACCESS_KEY), options.get(rows.TOKEN_SECRET_KEY)
    if access_key is None and secret_key is None:
        return None
    if access_key is None or secret_key is None:
        raise ErrorCode.INVALID_CONFIG.error(
            f"Of '{rows.TOKEN_ACCESS_KEY.key}' and '{rows.TOKEN_SECRET_KEY.key}' one is set; set both or none."
        )
    return Credentials(access_key, secret_key)
