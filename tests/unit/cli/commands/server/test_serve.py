"""What the command line of a server says, as options."""

from __future__ import annotations

import pytest

from lakeward.cli.commands.server.serve import options_of
from lakeward.options.server import BIND_LISTENERS


@pytest.mark.parametrize("host", ["::1", "[::1]", "127.0.0.1", "localhost"])
def test_a_host_is_a_name_or_an_address_of_either_kind(host: str) -> None:
    """Brackets are for what stands in front of a port, and here nothing does."""
    (listener,) = options_of(None, None, 9200, (), host).get(BIND_LISTENERS)
    assert (listener.host, listener.port) == (host.strip("[]"), 9200)
