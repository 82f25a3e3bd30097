"""The examples run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from server_process import ServerProcess

_EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_tour_of_the_connector_runs(lakeward: ServerProcess) -> None:
    """Tables, batches, a changelog, a stream with a lookup join that ends with every order in it once."""
    done = subprocess.run(
        [sys.executable, str(_EXAMPLES / "spark_tour.py"), lakeward.bootstrap],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=380,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "enriched: 1000 of 1000 orders" in done.stdout
    assert "1 of 2 partitions" in done.stdout  # what EXPLAIN says of the pruned read
