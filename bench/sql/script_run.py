"""`python -m bench.sql.script_run [--rows N] [--rounds N]`: what scripts cost; prints."""

from __future__ import annotations

import argparse

from bench.sql.script_work import measure
from bench.targets import lakeward, warm_memory

_LIMIT = 0.95


def main() -> None:
    """Run, print."""
    parser = argparse.ArgumentParser(prog="bench.sql.script_run", description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows that each job reads (default 4,000,000)")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of each; the median counts (default 4)")
    arguments = parser.parse_args()
    warm_memory()
    target = lakeward()
    try:
        figures = measure(target, arguments.rows, arguments.rounds)
    finally:
        target.stop()
    told = f"{figures.ratio:.2f} × by rows a second, {figures.cpu_ratio:.2f} × by rows a CPU second"
    print(f"lakeward run / the same job by hand, steady state: {told} (wanted: ≥ {_LIMIT} ×)")


if __name__ == "__main__":
    main()
