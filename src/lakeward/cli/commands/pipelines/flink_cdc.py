"""flink-cdc.sh FILE…: what the guide types to run a pipeline."""

from __future__ import annotations

import sys

from lakeward.cli.main import cli


def main() -> None:
    """Entry point of the script `flink-cdc.sh`: `lakeward pipeline run`."""
    cli(["pipeline", "run", *sys.argv[1:]], prog_name="lakeward")
