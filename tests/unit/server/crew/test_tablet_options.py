"""What a tablet server is started with."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.options.server_options import ServerOptions
from lakeward.server.crew.tablet_options import tablet_texts


def _bound(listeners: str, server_id: int, **ports: int) -> str:
    options = ServerOptions.of({"bind.listeners": listeners})
    return tablet_texts(options, server_id, 3, ports)["bind.listeners"]


def test_ports_follow_those_of_the_coordinator() -> None:
    """As many for each server as it has listeners."""
    assert _bound("FLUSS://localhost:9123", 0) == "FLUSS://localhost:9124"
    assert _bound("FLUSS://localhost:9123", 2) == "FLUSS://localhost:9126"
    assert _bound("A://localhost:9123,B://localhost:9124", 1) == "A://localhost:9127,B://localhost:9128"


def test_a_port_that_was_free_is_kept() -> None:
    """A server that is started again is found where it was."""
    assert _bound("FLUSS://localhost:0", 1) == "FLUSS://localhost:0"
    assert _bound("FLUSS://localhost:0", 1, FLUSS=4321) == "FLUSS://localhost:4321"


@pytest.mark.parametrize(
    ("listeners", "words"),
    [("FLUSS://localhost:65534", "none above 65535"), ("A://localhost:9123,B://localhost:9125", "one of the")],
)
def test_ports_that_do_not_fit_are_refused(listeners: str, words: str) -> None:
    """With what to do."""
    with pytest.raises(LakewardError, match=words):
        _bound(listeners, 0)


def test_each_server_has_a_record_and_a_place_for_metrics_of_its_own() -> None:
    """Two processes cannot write one file, or take one port."""
    options = ServerOptions.of({"audit.dir": "/var/audit", "metrics.reporter.prometheus.port": "9250-9260"})
    texts = tablet_texts(options, 1, 3, {})
    assert texts["audit.dir"] == "/var/audit/tablet-1"
    assert texts["metrics.reporter.prometheus.port"] == "9252-9262"
