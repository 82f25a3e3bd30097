"""Where keys are looked for when none are given: as the SDKs of AWS do, in their order.

properties → environment → web identity → profile → container → instance
"""

from __future__ import annotations

import configparser
import importlib
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from lakeward.errors import DeniedError, ErrorCode
from lakeward.remote.s3.credentials import Credentials, CredentialSource, RenewedCredentials
from lakeward.remote.s3.s3_settings import S3Settings
from lakeward.remote.s3.sts import Sts
from lakeward.runtime.clock import Clock

_INSTANCE_URL = "http://169.254.169.254"
_CONTAINER_URL = "http://169.254.170.2"
_TIMEOUT_S = 2
_ROLE_SECONDS = 3600
_BOTO3_MS = 10 * 60_000  # boto3 renews by itself; asked again so often
_BY_BOTO3 = ("sso_session", "sso_start_url", "credential_process", "sso_account_id")


def found_credentials(
    settings: S3Settings, clock: Clock, environment: Mapping[str, str] | None = None
) -> CredentialSource:
    """The source of our keys, renewed as they end; asked for the first time when it is first called."""
    chain = _Chain(settings, clock, os.environ if environment is None else environment)
    own = RenewedCredentials(chain.find, clock)
    if settings.server_role is None:
        return own
    role, sts = settings.server_role, Sts(settings.sts_url(), settings.region, clock)
    return RenewedCredentials(lambda: sts.assume_role(own(), role, settings.role_session, _ROLE_SECONDS, None), clock)


class _Chain:
    """The places, one after the other."""

    def __init__(self, settings: S3Settings, clock: Clock, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._clock = clock
        self._sts = Sts(settings.sts_url(), settings.region, clock)

    def find(self) -> Credentials:
        """The first keys that are there."""
        found = next((one for one in self._places() if one is not None), None)
        if found is None:
            raise DeniedError(
                ErrorCode.STORAGE,
                "there are no keys to it; set s3.access-key and s3.secret-key, or AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or a profile in ~/.aws/credentials.",
            )
        return found

    def _places(self) -> Iterator[Credentials | None]:
        settings, environment = self._settings, self._environment
        if settings.access_key is not None:
            yield Credentials(settings.access_key, settings.secret_key or "", settings.session_token)
        if settings.profile is not None:
            yield self._profile(settings.profile, is_named=True)
        if environment.get("AWS_ACCESS_KEY_ID"):
            yield Credentials(
                environment["AWS_ACCESS_KEY_ID"],
                environment.get("AWS_SECRET_ACCESS_KEY", ""),
                environment.get("AWS_SESSION_TOKEN") or None,
            )
        token_file, role = environment.get("AWS_WEB_IDENTITY_TOKEN_FILE"), environment.get("AWS_ROLE_ARN")
        if token_file and role:
            yield self._web_identity(token_file, role, environment.get("AWS_ROLE_SESSION_NAME"))
        name = environment.get("AWS_PROFILE")
        yield self._profile(name or "default", is_named=bool(name))
        yield self._container()
        yield self._instance()

    def _web_identity(self, token_file: str, role: str, session_name: str | None) -> Credentials:
        try:
            token = Path(token_file).read_text().strip()
        except OSError as wrong:
            raise DeniedError(
                ErrorCode.STORAGE, f"the token in {token_file} cannot be read: {wrong.strerror}."
            ) from wrong
        return self._sts.assume_role_with_web_identity(token, role, session_name or self._settings.role_session)

    # -- profiles

    def _profile(self, name: str, *, is_named: bool) -> Credentials | None:
        values = _profile_values(self._environment, name)
        if values is None:
            if is_named:
                raise DeniedError(
                    ErrorCode.STORAGE, f"there is no profile '{name}' in ~/.aws/credentials or ~/.aws/config."
                )
            return None
        return self._of_profile(name, values)

    def _of_profile(
        self, name: str, values: Mapping[str, str], asked: frozenset[str] = frozenset()
    ) -> Credentials | None:
        """`asked` are the profiles whose roles wait for these keys."""
        if (role := values.get("role_arn")) and name not in asked:
            session_name = values.get("role_session_name", self._settings.role_session)
            if token_file := values.get("web_identity_token_file"):
                return self._web_identity(token_file, role, session_name)
            by = self._role_source(name, values, asked | {name})
            return self._sts.assume_role(by, role, session_name, _ROLE_SECONDS, None)
        if values.get("aws_access_key_id"):
            return Credentials(
                values["aws_access_key_id"],
                values.get("aws_secret_access_key", ""),
                values.get("aws_session_token") or None,
            )
        return _asked_boto3(name, self._clock) if any(key in values for key in _BY_BOTO3) else None

    def _role_source(self, name: str, values: Mapping[str, str], asked: frozenset[str]) -> Credentials:
        found = None
        match values:
            case {"source_profile": source}:
                found = self._of_profile(source, _profile_values(self._environment, source) or {}, asked)
            case {"credential_source": "EcsContainer"}:
                found = self._container()
            case {"credential_source": "Ec2InstanceMetadata"}:
                found = self._instance()
        if found is None:
            raise DeniedError(ErrorCode.STORAGE, f"the profile '{name}' names a role, and no keys to take it with.")
        return found

    # -- machines of AWS

    def _container(self) -> Credentials | None:
        environment = self._environment
        url = environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        if relative := environment.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"):
            url = f"{_CONTAINER_URL}{relative}"
        if not url:
            return None
        token = environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        if token_file := environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"):
            token = Path(token_file).read_text().strip()
        try:
            return _of_json(_ask(url, {"Authorization": token} if token else {}), url)
        except OSError as wrong:
            raise DeniedError(ErrorCode.STORAGE, f"{url} does not give keys to this container: {wrong}.") from wrong

    def _instance(self) -> Credentials | None:
        if self._environment.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
            return None
        root = self._environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or _INSTANCE_URL
        base = f"{root.rstrip('/')}/latest"
        try:
            ttl = {"X-aws-ec2-metadata-token-ttl-seconds": "300"}
            headers = {"X-aws-ec2-metadata-token": _ask(f"{base}/api/token", ttl, method="PUT")}
            roles = f"{base}/meta-data/iam/security-credentials/"
            role = _ask(roles, headers).split("\n")[0].strip()
            return _of_json(_ask(roles + role, headers), roles + role)
        except OSError:
            return None  # this is no machine of AWS, or one without a role


def _profile_values(environment: Mapping[str, str], name: str) -> dict[str, str] | None:
    home = Path(environment.get("HOME") or Path.home()) / ".aws"
    config = environment.get("AWS_CONFIG_FILE") or home / "config"
    shared = environment.get("AWS_SHARED_CREDENTIALS_FILE") or home / "credentials"
    found: dict[str, str] | None = None
    for file, section in ((config, name if name == "default" else f"profile {name}"), (shared, name)):
        parser = configparser.RawConfigParser()
        try:
            parser.read(file)
        except configparser.Error as wrong:
            raise DeniedError(ErrorCode.STORAGE, f"{file} cannot be read as a file of profiles.") from wrong
        if parser.has_section(section):
            found = (found or {}) | dict(parser.items(section))
    return found


def _ask(url: str, headers: Mapping[str, str], method: str = "GET") -> str:
    if urlsplit(url).scheme not in {"http", "https"}:
        raise OSError(f"{url} is no URL")
    request = urllib.request.Request(url, headers=dict(headers), method=method)  # noqa: S310 - checked above
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # these addresses are never behind a proxy
    with opener.open(request, timeout=_TIMEOUT_S) as answer:
        return str(answer.read(1 << 20), "utf-8")


def _of_json(text: str, url: str) -> Credentials:
    try:
        found = json.loads(text)
        expires_ms = int(datetime.fromisoformat(found["Expiration"]).timestamp() * 1000)
        return Credentials(found["AccessKeyId"], found["SecretAccessKey"], found.get("Token"), expires_ms)
    except (ValueError, KeyError, TypeError) as wrong:
        raise DeniedError(ErrorCode.STORAGE, f"{url} answered with something else than keys.") from wrong


def _asked_boto3(profile: str, clock: Clock) -> Credentials:
    """Profiles that need a browser or a program are boto3's trade; it is asked when it is installed."""
    try:
        boto3 = importlib.import_module("boto3")
        found = boto3.Session(profile_name=profile).get_credentials().get_frozen_credentials()
    except ImportError as wrong:
        raise DeniedError(
            ErrorCode.STORAGE, f"the profile '{profile}' gets its keys by SSO or from a program: pip install boto3."
        ) from wrong
    except Exception as wrong:
        raise DeniedError(ErrorCode.STORAGE, f"boto3 has no keys for the profile '{profile}': {wrong}.") from wrong
    return Credentials(found.access_key, found.secret_key, found.token, clock.now_ms() + _BOTO3_MS)
