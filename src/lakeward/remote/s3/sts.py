"""Sts: asks a store for temporary keys, limited to what a policy allows. It blocks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlencode

from lakeward.errors import ErrorCode
from lakeward.remote.s3.credentials import Credentials
from lakeward.remote.s3.signed_call import SignedCalls, element
from lakeward.runtime.clock import Clock

_VERSION = "2011-06-15"
_FORM = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}


class Sts:
    """The service that gives temporary keys, at a URL."""

    def __init__(self, url: str, region: str, clock: Clock) -> None:
        self.url = url
        self._calls = SignedCalls("sts", region, clock, ErrorCode.SECURITY_TOKEN)

    def assume_role(
        self, by: Credentials, role_arn: str, session_name: str, duration_s: int, policy: Mapping[str, object] | None
    ) -> Credentials:
        """A session of a role, limited by a policy."""
        form = {"RoleArn": role_arn, "RoleSessionName": session_name, "DurationSeconds": str(duration_s)}
        return self._ask("AssumeRole", form, policy, by)

    def federation_token(
        self, by: Credentials, name: str, duration_s: int, policy: Mapping[str, object]
    ) -> Credentials:
        """A session of the caller, limited by a policy; for keys that are not temporary themselves."""
        return self._ask("GetFederationToken", {"Name": name, "DurationSeconds": str(duration_s)}, policy, by)

    def assume_role_with_web_identity(self, web_token: str, role_arn: str, session_name: str) -> Credentials:
        """A session of a role for whoever holds a token of an identity provider."""
        form = {"RoleArn": role_arn, "RoleSessionName": session_name, "WebIdentityToken": web_token}
        return self._ask("AssumeRoleWithWebIdentity", form, None, None)

    def _ask(
        self, action: str, form: dict[str, str], policy: Mapping[str, object] | None, by: Credentials | None
    ) -> Credentials:
        fields = {"Action": action, "Version": _VERSION, **form}
        if policy is not None:
            fields["Policy"] = json.dumps(policy, separators=(",", ":"))
        answer = self._calls.call("POST", f"{self.url}/", action, by, _FORM, urlencode(fields).encode())
        access_key, secret_key = element("AccessKeyId", answer), element("SecretAccessKey", answer)
        expiration = element("Expiration", answer)
        if access_key is None or secret_key is None or expiration is None:
            raise ErrorCode.SECURITY_TOKEN.error(f"{self.url} answered {action} with something else than keys.")
        expires_ms = int(datetime.fromisoformat(expiration).timestamp() * 1000)
        return Credentials(access_key, secret_key, element("SessionToken", answer), expires_ms)
