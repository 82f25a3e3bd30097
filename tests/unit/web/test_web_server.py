"""How our web servers run."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.applications import Starlette

from lakeward.web.web_server import obey_signals, web_config


@pytest.fixture
def server() -> Iterator[uvicorn.Server]:
    """One that does not run yet; signals are as they were afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield uvicorn.Server(web_config(Starlette(), None, None, lifespan="off", stop_s=1))
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_before_the_server_runs_is_not_forgotten(server: uvicorn.Server, number: int) -> None:
    """It was ignored between the two, and the server could not be stopped but by a second one."""
    obey_signals(server)
    signal.raise_signal(number)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server.run(sockets=[listener])
    assert not server.started or server.should_exit
