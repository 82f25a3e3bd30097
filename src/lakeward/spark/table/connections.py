"""One connection per process and cluster: tasks that follow one another in a Python worker share it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from threading import Lock

from lakeward.client.blocking.sync import Connection
from lakeward.client.cluster.absence import tell_away, tell_back
from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.client import AWAY_TIMEOUT, patient
from lakeward.options.spark import BOOTSTRAP_SERVERS, client_options
from lakeward.query.door import connect
from lakeward.runtime.backoff import Backoff

_BACKOFF = Backoff(0.1, 1.0)
_lock = Lock()
_open: dict[tuple[int, str, tuple[tuple[str, str], ...]], Connection] = {}


def connection(options: Mapping[str, str], *, expected: bool = False) -> Connection:
    """The connection that these connector options describe; opened when it is first asked for.

    Where the server is `expected`, since others of the same job have spoken to it, it is waited for; otherwise an
    address where nobody listens is an error at once.
    """
    bootstrap = ",".join(BOOTSTRAP_SERVERS.read(options))
    of_client = patient(client_options(options))
    key = (os.getpid(), bootstrap, tuple(sorted(of_client.items())))  # a forked worker has threads of its own
    with _lock:
        found = _open.get(key)
        if found is None:
            found = _open[key] = (
                _connect_patiently(bootstrap, of_client) if expected else connect(bootstrap, **of_client)
            )
        return found


def _connect_patiently(bootstrap: str, options: Mapping[str, str]) -> Connection:
    began_s, wait_s, failures = time.monotonic(), AWAY_TIMEOUT.read(options) / 1000, 0
    while True:
        try:
            found = connect(bootstrap, **options)
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.NETWORK or time.monotonic() - began_s > wait_s:
                raise
            if not failures:
                tell_away(wrong, wait_s)
            failures += 1
            time.sleep(_BACKOFF.pause_s(failures))
        else:
            if failures:
                tell_back(time.monotonic() - began_s)
            return found
