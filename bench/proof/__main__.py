"""`python -m bench.proof [--only MEASURE …] [--keep] [--list]`: every promise in one go."""

from __future__ import annotations

import argparse
import os
import time

from bench.proof import runner
from bench.proof.kept import LOAD, Figures, is_slower, keep, last, machine_kind
from bench.proof.promises import MEASURES, PROMISES

_MOST_S = 30 * 60


def main() -> None:
    """Measure, print, say what is short and what is slower."""
    parser = argparse.ArgumentParser(prog="bench.proof", description=__doc__)
    parser.add_argument("--only", choices=MEASURES, action="append", help="one measure, or some")
    parser.add_argument("--keep", action="store_true", help="write docs/figures/bench.json, to be committed")
    parser.add_argument("--list", action="store_true", help="measure nothing: the lines, and how each is measured")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        runner.child(*arguments.child)
    elif arguments.list:
        _list()
    else:
        _run(arguments)


def _list() -> None:
    for promise in PROMISES:
        measure = MEASURES[promise.measure]
        sign = "≥" if promise.at_least else "≤"
        print(f"{promise.work}: {sign} {promise.to_reach:g} {promise.unit} ({measure.name}; {measure.size})")


def _run(arguments: argparse.Namespace) -> None:
    machine, begun = machine_kind(), time.monotonic()
    before, figures = last(machine), Figures()
    then = f"{len(before)} figures" + (f", taken at load {before[LOAD]:g}" if LOAD in before else "")
    print(f"{machine}, load {os.getloadavg()[1]:.1f}; compared with what was committed for such a machine: {then}\n")
    short: list[str] = []
    slower: list[str] = []
    for measure in MEASURES.values():
        if arguments.only and measure.name not in arguments.only:
            continue
        if time.monotonic() - begun > _MOST_S:
            print(f"{measure.name}: not measured, half an hour is over")
            continue
        answer = runner.run(measure)
        print(f"-- {measure.name}: {measure.size}", flush=True)
        for work, value, unit, goal, at_least, beside in _lines(measure.name, answer):
            figures[work] = value
            kept = goal is None or (value >= goal if at_least else value <= goal)
            told = "" if goal is None else f"{'≥' if at_least else '≤'} {goal:g} {'✓' if kept else '✗ SHORT'}"
            was = before.get(work)
            if was is not None and is_slower(value, was, at_least=at_least):
                slower.append(f"{work}: {value:.3g} {unit}, was {was:.3g}")
                told += f"  SLOWER, was {was:.3g}"
            if not kept:
                short.append(work)
            print(f"{value:10.3g} {unit:3} {told:24} {work}{beside}", flush=True)
        if "wrong" in answer:
            print(f"{'–':>10}     {answer['wrong']}", flush=True)
    print(f"\n{len(figures)} lines in {time.monotonic() - begun:.0f} s; {len(short)} short, {len(slower)} slower.")
    for name, found in (("Short", short), ("Slower by more than 20 % than the last committed figure", slower)):
        if found:
            print(f"\n{name}:\n" + "\n".join(f"  {one}" for one in found))
    if arguments.keep:
        keep(machine, figures | {LOAD: os.getloadavg()[1]})


def _lines(measure: str, answer: runner.Answer) -> list[tuple[str, float, str, float | None, bool, str]]:
    """Work, figure, unit, what to reach, whether more is better, and what stood beside it."""
    figures = answer.get("figures", {})
    found: list[tuple[str, float, str, float | None, bool, str]] = [
        (p.work, figures[p.key], p.unit, p.to_reach, p.at_least, f" (was {p.today})")
        for p in PROMISES
        if p.measure == measure and p.key in figures
    ]
    for line in answer.get("lines", []):
        beside = f": {line['ours']}, {line['theirs']}"
        found.append((line["work"], line["ratio"], "", line["limit"], line["at_least"], beside))
    return found


if __name__ == "__main__":
    main()
