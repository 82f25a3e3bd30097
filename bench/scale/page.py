"""docs/benchmarks-scale.md and its pictures, from kept figures alone."""

from __future__ import annotations

import platform
from pathlib import Path
from textwrap import fill

import psutil

from bench.scale.growth import growth
from bench.scale.kept import Figure, Kept
from bench.scale.picture import COLOURS, Curve, Panel, short, svg
from bench.scale.shapes import AXES, ROW_BYTES, Axis
from bench.scale.words import NOTES, REASONS, WORDS

_DOCS = Path(__file__).parents[2] / "docs"
PAGE = _DOCS / "benchmarks-scale.md"
PICTURES = _DOCS / "pictures" / "scale"
_SMALL = ("p50", "p95", "p99")
_WORK_COLOURS = {"append": "#0891b2", "scan": "#a16207", "upsert": "#f97316", "lookup": "#65a30d"}
_PEERS = {"fluss": "Apache Fluss, p50", "kafka": "Kafka, p50", "duckdb": "DuckDB on Parquet, p50"}
_WHOLE_PEERS = {"fluss": "Apache Fluss, all rows", "kafka": "Kafka, all rows"}


def write_page(kept: Kept) -> None:
    """Draw, write."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for axis in AXES.values():
        (PICTURES / f"{axis.name}.svg").write_text(svg(f"Cost over {axis.name}", panels(kept, axis)))
    PAGE.write_text(page(kept))


def panels(kept: Kept, axis: Axis) -> list[Panel]:
    """A panel for each work (small requests; the whole), then memory and CPU."""
    made = []
    for work in _works(axis):
        small = [Curve(f"{key}", kept.curve(axis.name, "lakeward", work, key), COLOURS[key]) for key in _SMALL]
        small += _others(kept, axis, work, "p50", _PEERS)
        made.append(Panel(WORDS[work].small, axis.name, "ms", small))
        if work == "union":  # every row is read each time: small and whole are the same
            continue
        whole = [Curve("all of it", kept.curve(axis.name, "lakeward", work, "s"), COLOURS["whole"])]
        whole += _others(kept, axis, work, "s", _WHOLE_PEERS)
        made.append(Panel(WORDS[work].whole, axis.name, "s", whole))
    for key, title, unit in (
        ("mb", "the server's memory", "MB"),
        ("cpu_s_gb", "the server's CPU", "s for a GB"),
        ("at_once", "all connections at once", "requests a second"),
    ):
        curves = [
            Curve(work, kept.curve(axis.name, "lakeward", work, key), colour)
            for work, colour in _WORK_COLOURS.items()
            if work in _works(axis)
        ]
        made.append(Panel(title, axis.name, unit, [_above_zero(curve) for curve in curves]))
    return made


def _others(kept: Kept, axis: Axis, work: str, key: str, names: dict[str, str]) -> list[Curve]:
    colours = {"fluss": COLOURS["other"], "kafka": "#64748b", "duckdb": "#64748b"}
    return [
        Curve(name, kept.curve(axis.name, who, work, key), colours[who], dashed=True) for who, name in names.items()
    ]


def _above_zero(curve: Curve) -> Curve:
    return Curve(curve.name, [(x, y) for x, y in curve.points if y > 0], curve.colour, curve.dashed)


def _works(axis: Axis) -> tuple[str, ...]:
    return ("append", "lookup") if axis.works == ("crowd",) else axis.works


def page(kept: Kept) -> str:
    """The page."""
    memory_gb = psutil.virtual_memory().total / 2**30
    machine = f"{psutil.cpu_count()} cores, {memory_gb:.0f} GB, Python {platform.python_version()}"
    lines = ["# Benchmarks: at size, and how cost grows", ""]
    lines += _wrapped(
        f"`python -m bench.scale`, {machine}; client and server share the machine. Each picture varies one thing; "
        "what stays is below it. Lines with p50, p95 and p99 are small requests after the table was filled; “all of "
        "it” is every row in, out, or into the lake. Dashed lines are others at the same work. Both scales are "
        "logarithmic: flat is flat, linear is a diagonal. Figures are kept in `docs/figures/scale.json`, from which "
        "`python -m bench.scale --draw` makes this page and its pictures again."
    )
    for axis in AXES.values():
        lines += ["", f"## Over {axis.name}", "", f"![Cost over {axis.name}](pictures/scale/{axis.name}.svg)", ""]
        lines += _wrapped(NOTES[axis.name])
        lines += _wrapped(_loads(kept, axis))
        lines += ["", *_table(kept, axis), ""]
        lines += _verdicts(kept, axis)
    lines += ["", "## What grows, and why", ""]
    for reason in REASONS:
        lines += _wrapped(f"- {reason}", "  ")
    return "\n".join([*lines, ""])


def _wrapped(text: str, indent: str = "") -> list[str]:
    return fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False).splitlines()


def _loads(kept: Kept, axis: Axis) -> str:
    """How busy the machine was: figures of a busy one are worth less."""
    said = []
    for name, ours in (("ours", True), ("of others", False)):
        loads = [
            figure["load"]
            for point in kept.all.get(axis.name, {}).values()
            for who, works in point.items()
            if (who in {"lakeward", "duckdb"}) == ours
            for figure in works.values()
            if "load" in figure
        ]
        if loads:
            said.append(f"{name} at {min(loads):.0f}–{max(loads):.0f}")
    told = f"Load of the machine, all that ran on it included: {', '.join(said) or 'not noted'}."
    early = [
        f"{WORDS[work].name} at {int(value):,}"
        for value, found in sorted(kept.all.get(axis.name, {}).items(), key=lambda item: int(item[0]))
        for work, figure in found.get("lakeward", {}).items()
        if "load" not in figure
    ]
    if early:
        told += f" Measured on a busy machine before what is mended below, and not again: {', '.join(early)}."
    return told


def _table(kept: Kept, axis: Axis) -> list[str]:
    points = sorted(int(value) for value in kept.all.get(axis.name, {}))
    head = f"| work | {' | '.join(_point(axis, p) for p in points)} | growth |"
    lines = [head, "|---" * (len(points) + 2) + "|"]
    for work in _works(axis):
        for who in ("lakeward", "fluss", "kafka", "duckdb"):
            found = [kept.at(axis.name, p, who).get(work, {}) for p in points]
            if any(found):
                name = WORDS[work].name if who == "lakeward" else f"… {_NAMES[who]}"
                lines.append(f"| {name} | {' | '.join(_cell(f) for f in found)} | {_grown(kept, axis, who, work)} |")
    return lines


_NAMES = {"fluss": "Apache Fluss", "kafka": "Kafka", "duckdb": "DuckDB on Parquet"}


def _point(axis: Axis, value: int) -> str:
    return f"{short(value)} ({value * ROW_BYTES / 1e9:.2g} GB)" if axis.name == "rows" else f"{value:,}"


def _cell(figure: Figure) -> str:
    if not figure:
        return "–"
    parts = []
    if "p50" in figure:
        parts.append(f"{figure['p50']:.3g} / {figure['p95']:.3g} / {figure['p99']:.3g} ms")
    if "s" in figure:
        parts.append(f"{figure['s']:.3g} s")
    if "answered_s" in figure:
        parts.append(f"answers after {figure['answered_s']:.3g} s")
    if figure.get("cpu_s_gb"):
        parts.append(f"{figure['cpu_s_gb']:.3g} CPU s/GB")
    if "at_once" in figure:
        parts.append(f"{figure['at_once']:.0f}/s at once")
    if "kb_connection" in figure:
        parts.append(f"{figure['kb_connection']:.0f} kB each")
    if "mb" in figure:
        parts.append(f"{figure['mb']:.0f} MB")
    return "; ".join(parts)


def _grown(kept: Kept, axis: Axis, who: str, work: str) -> str:
    said = []
    for key, what in (("p50", "p50"), ("s", "all")):
        found = growth(kept.curve(axis.name, who, work, key))
        if found is not None:
            said.append(f"{what} {found.word} (×{found.times:.3g})")
    return ", ".join(said) or "–"


def _verdicts(kept: Kept, axis: Axis) -> list[str]:
    """Curves that grow by more than their axis, by name."""
    bad = [
        WORDS[work].name
        for work in _works(axis)
        for key in ("p50", "s")
        if (found := growth(kept.curve(axis.name, "lakeward", work, key))) and found.word == "more than linear"
    ]
    if not bad:
        return _wrapped(f"No curve grows more than linearly over {axis.name}.")
    return _wrapped(f"More than linear over {axis.name}: {', '.join(dict.fromkeys(bad))}.")
