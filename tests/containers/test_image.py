"""The image of ./Dockerfile, built and run by podman.

CONTAINER_BASE     what it is built on, where python:3.12-slim cannot be pulled: any image with Python 3.11 or newer
CONTAINER_IMAGE    an image that was built already
CONTAINER_PODMAN   podman with its options, e.g. `podman --storage-driver vfs --runtime /usr/sbin/runc`
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from eventually import eventually

import lakeward

_ROOT = Path(__file__).parents[2]
_PODMAN = shlex.split(os.environ.get("CONTAINER_PODMAN", "podman"))
#: Where no bridge can be made, and limits cannot be raised, containers run all the same.
_RUN = ["--network", "host", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"]

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(shutil.which(_PODMAN[0]) is None, reason="podman is not installed here; no image is built"),
]


def _podman(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*_PODMAN, *arguments], cwd=_ROOT, capture_output=True, text=True)


def _ok(*arguments: str) -> str:
    done = _podman(*arguments)
    assert done.returncode == 0, f"podman {shlex.join(arguments)}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def image() -> str:
    """Built from this directory, or named by CONTAINER_IMAGE."""
    if given := os.environ.get("CONTAINER_IMAGE"):
        return given
    base = os.environ.get("CONTAINER_BASE", "python:3.12-slim")
    here = [place for place in ("/etc/pip.conf", "/etc/ssl/certs") if Path(place).exists()]  # how pip gets out of here
    shared = [part for place in here for part in ("-v", f"{place}:{place}:ro")]
    how = ["--format", "docker", "--isolation", "chroot", "--network", "host", *shared]
    done = _podman("build", *how, "--build-arg", f"BASE={base}", "-t", "localhost/lakeward:test", ".")
    if "creating build container" in done.stderr or "initializing source" in done.stderr:
        pytest.skip(f"{base} cannot be had here; CONTAINER_BASE names another: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return "localhost/lakeward:test"


class Container:
    """A container that runs, with a port of its own."""

    def __init__(self, image: str, volume: str, *options: str) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = int(taken.getsockname()[1])
        properties = f"FLUSS_PROPERTIES=bind.listeners: FLUSS://localhost:{self.port}"
        self.name = f"lakeward-{uuid.uuid4().hex[:8]}"
        done = _podman(
            "run", "-d", "--name", self.name, *_RUN, "-v", f"{volume}:/data", "-e", properties, *options, image
        )
        if done.returncode != 0 and "OCI" in done.stderr:
            self.remove()
            pytest.skip(f"podman runs no containers here: {done.stderr.strip()[-300:]}")
        assert done.returncode == 0, done.stderr

    def has(self, *command: str) -> str:
        """What a command in it says."""
        return _ok("exec", self.name, *command)

    def is_well(self) -> bool:
        """By the command of its own health check."""
        (check,) = json.loads(_ok("inspect", self.name, "--format", "[{{json .Config.Healthcheck.Test}}]"))
        return _podman("exec", self.name, *check[1:]).returncode == 0

    def remove(self) -> None:
        """Away with it."""
        _podman("rm", "-f", self.name)


@pytest.fixture
def volume() -> Iterator[str]:
    """A volume for data."""
    name = f"lakeward-{uuid.uuid4().hex[:8]}"
    yield name
    _podman("volume", "rm", "-f", name)


def test_a_container_serves_as_nobody_and_keeps_its_rows(image: str, volume: str) -> None:
    """Healthy, not root, nothing compiled for the first upsert; it stops with 0, and the next one has the rows."""
    kernels = ("sh", "-c", "find /var/cache/lakeward -type f | wc -l")
    first = Container(image, volume)
    try:
        assert eventually(first.is_well), _podman("logs", first.name)
        assert first.has("id", "-u").strip() == "10001"
        compiled = first.has(*kernels)
        assert int(compiled) > 10
        with lakeward.connect(f"localhost:{first.port}") as conn:
            conn.create_table("fluss.kept", "id BIGINT, name STRING", primary_key=["id"]).upsert(
                [{"id": 1, "name": "a"}]
            )
        assert first.has(*kernels) == compiled
        _ok("stop", "--time", "10", first.name)
        assert _ok("inspect", first.name, "--format", "{{.State.ExitCode}}").strip() == "0"
        assert "all that was acknowledged is on disk" in _ok("logs", first.name)
    finally:
        first.remove()
    second = Container(image, volume, "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL")
    try:
        assert eventually(second.is_well), _podman("logs", second.name)
        with lakeward.connect(f"localhost:{second.port}") as conn:
            assert conn.table("fluss.kept").lookup([1]).to_pylist() == [{"id": 1, "name": "a"}]
    finally:
        second.remove()


def test_the_image_has_console_tiering_and_queries(image: str) -> None:
    """Their libraries are in it: each command says what it does, and refuses what is wrong."""
    for command in (["console", "--help"], ["tier", "--help"], ["sql", "--help"], ["--version"]):
        _ok("run", "--rm", *_RUN, image, *command)
    modules = "import starlette, uvicorn, pyiceberg, duckdb, rocksdict, lakeward.console.server"
    _ok("run", "--rm", *_RUN, "--entrypoint", "python", image, "-c", modules)
