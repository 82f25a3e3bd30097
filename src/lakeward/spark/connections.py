"""One connection per process and cluster: tasks that follow one another in a Python worker share it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock

from lakeward.client.sync import Connection, connect
from lakeward.options.spark import BOOTSTRAP_SERVERS, client_options

_lock = Lock()
_open: dict[tuple[int, str, tuple[tuple[str, str], ...]], Connection] = {}


def connection(options: Mapping[str, str]) -> Connection:
    """The connection that these connector options describe; opened when it is first asked for."""
    bootstrap = ",".join(BOOTSTRAP_SERVERS.read(options))
    of_client = client_options(options)
    key = (os.getpid(), bootstrap, tuple(sorted(of_client.items())))  # a forked worker has threads of its own
    with _lock:
        found = _open.get(key)
        if found is None:
            found = _open[key] = connect(bootstrap, **of_client)
        return found
