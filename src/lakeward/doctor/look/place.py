"""Where a server keeps its data on this machine: the directory, its disk, and the process that is in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.doctor.look.directory import look_at_directory, look_at_disk
from lakeward.doctor.look.machine import look_at_process


def look_at_place(data_dir: Path, options: Mapping[str, str]) -> Mapping[str, Any]:
    """Three parts of the facts; without a process where no server is in it."""
    root = data_dir.resolve()
    directory = look_at_directory(root, options)
    found: dict[str, Any] = {"directory": directory, "disk": look_at_disk(root)}
    if directory.holders:
        found["process"] = look_at_process(directory.holders[0])
    return found
