"""A second S3 server for tests, by moto: a process of its own that keeps everything in memory and never says no."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from seaweed import Bucket

from lakeward.runtime.process.child import Child

_START_S = 60


@pytest.fixture(scope="session")
def moto_endpoint() -> Iterator[str]:
    """One moto for all tests of this process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = f"from moto.server import main; main(['-H', '127.0.0.1', '-p', '{port}'])"
    process = Child(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ)
    )
    try:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def moto_s3(moto_endpoint: str, request: pytest.FixtureRequest) -> Bucket:
    """A fresh bucket there."""
    bucket = Bucket(moto_endpoint, f"test-{abs(hash(request.node.nodeid)) % 10**12}")
    bucket.make()
    return bucket
