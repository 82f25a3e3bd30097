"""Options of every captured database."""

from __future__ import annotations

import pytest

from lakeward.capture.stream import Startup, StreamSettings
from lakeward.capture.stream_options import stream_settings
from lakeward.errors import LakewardError


def test_options_say_how_a_database_is_followed() -> None:
    """The mode and the size of a chunk; without them, everything in chunks of some ten thousand rows."""
    assert stream_settings({}) == StreamSettings()
    given = {"scan.startup.mode": "latest-offset", "scan.incremental.snapshot.chunk.size": "10"}
    assert stream_settings(given) == StreamSettings(Startup.LATEST, 10)


@pytest.mark.parametrize("mode", ["earliest-offset", "specific-offset", "timestamp"])
def test_modes_of_others_are_refused_with_a_sentence(mode: str) -> None:
    """It names those that there are."""
    with pytest.raises(LakewardError, match=f"'{mode}' is not possible.*initial, snapshot, latest-offset"):
        stream_settings({"scan.startup.mode": mode})
