"""`spark-submit lakeward_tier.py --bootstrap HOST:PORT …`: what `lakeward tier` does, on the submitted master."""

from __future__ import annotations

import sys

from lakeward.cli.main import cli
from lakeward.spark.tiering.tiering_job import submitted_master

if __name__ == "__main__":
    cli(["tier", "--master", submitted_master(), *sys.argv[1:]], prog_name="lakeward")
