"""A process that may not have more memory than it was given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
from lakeward.runtime.process.memory_limit import limit_memory
assert limit_memory(64 << 20)
held = bytearray(16 << 20)
try:
    bytearray(256 << 20)
except MemoryError:
    print("refused")
print(len(bytearray(1 << 20)) + len(held))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say what is taken")
def test_more_than_that_is_refused() -> None:
    """And what fits is had, before and after."""
    told = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60)
    assert told.stdout.split() == ["refused", str(17 << 20)], told.stderr
