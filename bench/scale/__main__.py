"""`python -m bench.scale [--only AXIS] [--gb N] [--points N …] [--again] [--draw]`: figures, pictures and the page."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import traceback

from bench.scale.kept import Kept
from bench.scale.shapes import AXES, Axis, points_of, shape_of

_POINT_S = 220
#: Works that others build upon.
_FILLS = {"append", "upsert", "tiering"}


def main() -> None:
    """Measure what is missing, draw, write."""
    parser = argparse.ArgumentParser(prog="bench.scale", description=__doc__)
    parser.add_argument("--only", choices=AXES, action="append", help="one axis, or some")
    parser.add_argument("--points", type=int, nargs="*", help="these points alone")
    parser.add_argument("--works", nargs="*", help="these works alone; tables are filled for them, which is not noted")
    parser.add_argument("--gb", type=float, default=10, help="rows up to so many GB: 1, 10 (default), 100")
    parser.add_argument("--peers", nargs="*", help="others beside it, where they are here: fluss, kafka")
    parser.add_argument("--alone", action="store_true", help="no others")
    parser.add_argument("--again", action="store_true", help="measure again what is known")
    parser.add_argument("--draw", action="store_true", help="measure nothing: pictures and page from kept figures")
    parser.add_argument("--seconds", type=int, default=_POINT_S, help=f"for each point at most (default {_POINT_S})")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        _child(arguments)
        return
    if not arguments.draw:
        for name in arguments.only or AXES:
            for value in arguments.points or points_of(AXES[name], arguments.gb):
                _point(AXES[name], value, arguments)
    from bench.scale.page import write_page

    write_page(Kept())


def _point(axis: Axis, value: int, arguments: argparse.Namespace) -> None:
    """One point and each peer, each in a process of its own that may not take for ever."""
    from bench.scale.peers import PEERS

    others = [] if arguments.alone else [p for p in arguments.peers or PEERS if value <= axis.peers.get(p, 0)]
    for who in ("lakeward", *(p for p in others if p != "duckdb" and PEERS[p].available())):
        known = Kept().at(axis.name, value, who)
        if known and not arguments.again and not arguments.works:
            continue
        begun = time.perf_counter()
        command = [sys.executable, "-m", "bench.scale", "--only", axis.name, "--child", f"{value}:{who}"]
        if arguments.works:
            command += ["--works", *arguments.works]
        try:
            subprocess.run(command, timeout=arguments.seconds, check=True, env={**os.environ})
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as wrong:
            print(f"{axis.name} {value:,} {who}: {wrong}", flush=True)
        print(f"{axis.name} {value:,} {who}: {time.perf_counter() - begun:.1f} s", flush=True)


def _child(arguments: argparse.Namespace) -> None:
    """Measure one point, and note each figure as it comes."""
    from bench.scale.bed import OPTIONS, made_bed
    from bench.scale.crowd import crowd
    from bench.scale.peers import PEERS
    from bench.scale.works import WORKS
    from bench.targets import lakeward

    (name,) = arguments.only
    axis = AXES[name]
    value, who = int(arguments.child.split(":")[0]), arguments.child.split(":")[1]
    shape = shape_of(name, value)
    if who != "lakeward":
        for work, figure in PEERS[who].measure(axis, shape):
            _note(name, value, who, work, figure)
        return
    with made_bed(lakeward(OPTIONS), shape, ours=True) as bed:
        if "crowd" in axis.works:
            for work, figure in crowd(bed).items():
                _note(name, value, who, work, figure)
            return
        asked = set(arguments.works or axis.works)
        for work in axis.works:
            if work not in asked | _FILLS:
                continue
            try:
                figure = WORKS[work](bed)
            except Exception:  # noqa: BLE001 - the works before it have their figures
                traceback.print_exc()
                break
            if work in asked:
                _note(name, value, who, work, figure)
            if work == "union":
                _note(name, value, "duckdb", work, PEERS["duckdb"].beside(bed))


def _note(axis: str, value: int, who: str, work: str, figure: dict[str, object]) -> None:
    figure = figure | {"load": round(os.getloadavg()[0], 1)}
    print(f"  {axis} {value:,} {who} {work}: {figure}", flush=True)
    Kept().note(axis, value, who, work, figure)


if __name__ == "__main__":
    main()
