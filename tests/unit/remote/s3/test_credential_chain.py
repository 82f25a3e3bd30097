"""Where keys are looked for when none are given: as AWS's own library does, which is asked for comparison."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import botocore.session
import pytest

from lakeward.errors import LakewardError
from lakeward.remote.s3.credential_chain import found_credentials
from lakeward.remote.s3.credentials import Credentials
from lakeward.remote.s3.s3_settings import S3Settings
from lakeward.runtime.clock import ManualClock

_KEYS = {"Code": "Success", "AccessKeyId": "machine", "SecretAccessKey": "m-secret", "Token": "m-token"}
_EXPIRATION = "2033-05-18T03:33:20Z"
_EXPIRES_MS = 2_000_000_000_000
_STS = (
    "<{0}Response><{0}Result><Credentials><AccessKeyId>session</AccessKeyId>"
    "<SecretAccessKey>s-secret</SecretAccessKey><SessionToken>s-token&amp;</SessionToken>"
    "<Expiration>2033-05-18T03:33:20Z</Expiration></Credentials></{0}Result></{0}Response>"
)


class _Aws:
    """A machine's metadata service, a container's, and STS, in one."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str], str]] = []
        self.busy = 0  # so many calls are refused first
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            do_PUT = do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0)).decode()
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.asked.append((handler.command, handler.path, headers, body))
        text = json.dumps({**_KEYS, "Expiration": _EXPIRATION})
        if handler.path.endswith("/api/token"):
            text = "imds-token"
        elif handler.path.endswith("/security-credentials/"):
            text = "a-role"
        elif handler.command == "POST":
            text = _STS.format(body.partition("Action=")[2].partition("&")[0])
        data = text.encode()
        handler.send_response(503 if len(self.asked) <= self.busy else 200)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def aws() -> Iterator[_Aws]:
    """AWS, on this machine."""
    service = _Aws()
    yield service
    service.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with profiles."""
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id = d-key\naws_secret_access_key = d-secret\n"
        "[work]\naws_access_key_id = w-key\naws_secret_access_key = w-secret%\naws_session_token = w-token\n"
    )
    (tmp_path / ".aws" / "config").write_text(
        "[default]\nregion = eu-west-1\n[profile role]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = work\n"
        "[profile circle]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = circle\n"
        "[profile sso]\nsso_session = x\n"
    )
    return tmp_path


def _found(environment: dict[str, str], **settings: str) -> Credentials:
    quiet = {"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/nonexistent", **environment}
    return found_credentials(S3Settings.of(settings, {}), ManualClock(), quiet)()


def test_properties_come_first(home: Path) -> None:
    """What is written into the server's configuration is meant."""
    environment = {"HOME": str(home), "AWS_ACCESS_KEY_ID": "e-key", "AWS_SECRET_ACCESS_KEY": "e-secret"}
    given = {"s3.access-key": "p-key", "s3.secret-key": "p-secret"}
    assert _found(environment, **given) == Credentials("p-key", "p-secret")
    assert _found(environment) == Credentials("e-key", "e-secret")
    assert _found({**environment, "AWS_SESSION_TOKEN": "e-token"}) == Credentials("e-key", "e-secret", "e-token")


@pytest.mark.parametrize("profile", [None, "default", "work"])
def test_profiles_are_read_as_botocore_reads_them(
    home: Path, profile: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same files, the same keys."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    theirs = botocore.session.Session(profile=profile).get_credentials()
    ours = _found({"HOME": str(home), **({"AWS_PROFILE": profile} if profile else {})})
    assert (ours.access_key, ours.secret_key, ours.session_token) == (
        theirs.access_key,
        theirs.secret_key,
        theirs.token,
    )


def test_a_profile_that_is_named_must_be_there(home: Path) -> None:
    """A misspelt one is not passed over."""
    with pytest.raises(LakewardError, match="there is no profile 'wrok'"):
        _found({"HOME": str(home)}, **{"s3.profile": "wrok"})


def test_a_profile_may_be_a_role(home: Path, aws: _Aws) -> None:
    """STS is asked with the keys of the profile that it names; a session comes back."""
    found = _found({"HOME": str(home)}, **{"s3.profile": "role", "s3.assumed.role.sts.endpoint": aws.url})
    assert found == Credentials("session", "s-secret", "s-token&", _EXPIRES_MS)
    _, _, headers, body = aws.asked[0]
    assert "Action=AssumeRole&" in body
    assert "Credential=w-key/" in headers["authorization"]
    assert headers["x-amz-security-token"] == "w-token"


def test_a_role_that_leads_to_itself_is_no_end_less_search(home: Path) -> None:
    """A circle of profiles is one sentence."""
    with pytest.raises(LakewardError, match="the profile 'circle' names a role, and no keys to take it with"):
        _found({"HOME": str(home)}, **{"s3.profile": "circle"})


def test_what_needs_a_browser_is_left_to_boto3(home: Path) -> None:
    """SSO is its trade; whatever it could not do is one sentence."""
    with pytest.raises(LakewardError, match="profile 'sso'"):
        _found({"HOME": str(home)}, **{"s3.profile": "sso"})


def test_a_web_identity_becomes_a_session(tmp_path: Path, aws: _Aws) -> None:
    """As in Kubernetes: a token in a file and a role in the environment; nothing is signed."""
    (tmp_path / "token").write_text("a.b.c\n")
    environment = {"AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/r"}
    assert _found(environment, **{"s3.assumed.role.sts.endpoint": aws.url}).access_key == "session"
    _, _, headers, body = aws.asked[0]
    assert "WebIdentityToken=a.b.c" in body
    assert "authorization" not in headers


def test_a_service_that_is_busy_is_asked_again(tmp_path: Path, aws: _Aws) -> None:
    """For a while, that is: then it is an error."""
    (tmp_path / "token").write_text("a.b.c\n")
    environment = {"AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/r"}
    aws.busy = 2
    assert _found(environment, **{"s3.assumed.role.sts.endpoint": aws.url}).access_key == "session"
    assert len(aws.asked) == 3
    aws.busy = 100
    with pytest.raises(LakewardError, match="refused AssumeRoleWithWebIdentity"):
        _found(environment, **{"s3.assumed.role.sts.endpoint": aws.url})


def test_a_container_is_given_keys(aws: _Aws) -> None:
    """By the address in its environment, with the token that goes with it."""
    environment = {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{aws.url}/keys",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": "let me in",
    }
    assert _found(environment) == Credentials("machine", "m-secret", "m-token", _EXPIRES_MS)
    assert aws.asked[0][2]["authorization"] == "let me in"


def test_a_machine_of_aws_has_a_role(aws: _Aws) -> None:
    """The metadata service is asked last, with a token of its own."""
    environment = {"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": aws.url}
    assert _found(environment) == Credentials("machine", "m-secret", "m-token", _EXPIRES_MS)
    assert [(method, path) for method, path, _, _ in aws.asked] == [
        ("PUT", "/latest/api/token"),
        ("GET", "/latest/meta-data/iam/security-credentials/"),
        ("GET", "/latest/meta-data/iam/security-credentials/a-role"),
    ]
    assert aws.asked[1][2]["x-aws-ec2-metadata-token"] == "imds-token"


def test_the_server_may_work_as_a_role(aws: _Aws) -> None:
    """Its keys then serve to take the role, and are asked for again when the session ends."""
    clock = ManualClock(_EXPIRES_MS - 3_600_000)
    settings = S3Settings.of(
        {
            "s3.access-key": "own",
            "s3.secret-key": "o-secret",
            "s3.server.role.arn": "arn:aws:iam::1:role/worker",
            "s3.assumed.role.sts.endpoint": aws.url,
        },
        {},
    )
    source = found_credentials(settings, clock, {})
    assert source().access_key == source().access_key == "session"
    assert len(aws.asked) == 1
    clock.advance(56 * 60_000)
    source()
    assert len(aws.asked) == 2


def test_without_keys_the_sentence_says_where_to_put_them() -> None:
    """Nothing is tried without keys."""
    with pytest.raises(
        LakewardError, match=r"no keys to it; set s3.access-key and s3.secret-key, or AWS_ACCESS_KEY_ID"
    ):
        _found({})
