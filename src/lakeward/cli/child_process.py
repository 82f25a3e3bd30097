"""Programs that a command started for itself."""

from __future__ import annotations

import subprocess


def stopped(process: subprocess.Popen[str] | subprocess.Popen[bytes], patience_s: float) -> None:
    """Ask a program to end, and end it when it does not."""
    process.terminate()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
