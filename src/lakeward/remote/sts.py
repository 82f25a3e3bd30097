"""Sts: asks a store for temporary keys, limited to what a policy allows."""

from __future__ import annotations

import html
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlencode

from lakeward.errors import DeniedError, ErrorCode, LakewardError
from lakeward.remote.credentials import Credentials
from lakeward.remote.signature import FORM, signed_headers
from lakeward.runtime.clock import Clock

_VERSION = "2011-06-15"
_TIMEOUT_S = 10
_ANSWER_BYTES_MAX = 1 << 20


class Sts:
    """The service that gives temporary keys, at a URL. Its calls block."""

    def __init__(self, url: str, region: str, clock: Clock) -> None:
        self.url = url
        self._region = region
        self._clock = clock

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
        body = urlencode(fields).encode()
        answer = self._post(action, body, by)
        found = {name: _field(name, answer) for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")}
        expiration = _field("Expiration", answer)
        access_key, secret_key = found["AccessKeyId"], found["SecretAccessKey"]
        if access_key is None or secret_key is None or expiration is None:
            raise ErrorCode.SECURITY_TOKEN.error(f"{self.url} answered {action} with something else than keys.")
        return Credentials(access_key, secret_key, found["SessionToken"], _ms(expiration))

    def _post(self, action: str, body: bytes, by: Credentials | None) -> str:
        url = f"{self.url}/"
        headers = {"content-type": FORM}
        if by is not None:
            now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
            headers = signed_headers(url, body, "sts", self._region, by, now.strftime("%Y%m%dT%H%M%SZ"))
        request = urllib.request.Request(url, body, headers)  # noqa: S310 - settings allow http and https only
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
                return str(answer.read(_ANSWER_BYTES_MAX), "utf-8", "replace")
        except urllib.error.HTTPError as wrong:
            with wrong:
                text = str(wrong.read(_ANSWER_BYTES_MAX), "utf-8", "replace")
            raise self._refused(action, wrong.code, text) from wrong
        except OSError as wrong:
            inner = getattr(wrong, "reason", wrong)
            reason = str(getattr(inner, "strerror", None) or inner).lower()
            raise ErrorCode.SECURITY_TOKEN.error(f"{self.url} did not answer {action}: {reason}.") from wrong

    def _refused(self, action: str, status: int, text: str) -> LakewardError:
        code, message = _field("Code", text), _field("Message", text)
        why = ", ".join(part.rstrip(".") for part in (code, message) if part) or f"status {status}"
        kind = DeniedError if status in {401, 403} else LakewardError
        return kind(ErrorCode.SECURITY_TOKEN, f"{self.url} refused {action} ({why}).")


def _field(name: str, text: str) -> str | None:
    found = re.search(rf"<{name}>\s*([^<]*?)\s*</{name}>", text)
    return html.unescape(found[1]) if found is not None and found[1] else None


def _ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)
