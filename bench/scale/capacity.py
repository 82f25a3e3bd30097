"""docs/capacity.md, from kept figures alone: what a machine holds, and what the same load takes elsewhere.

`python -m bench.scale.capacity` writes it; a test holds that the page says what the figures say.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from bench.scale.kept import Figure, Kept
from bench.scale.shapes import ROW_BYTES

PAGE = Path(__file__).parents[2] / "docs" / "capacity.md"
#: Of a core's time; the rest is for bursts, tiering beside it and what was forgotten.
_USED = 0.5
#: Of a disk's room and of its rate.
_FULL, _DISK_MB_S, _DISK_TB = 0.7, 500, 2.0
#: Rows on disk: zstd, as the client writes them (measured on the rows of the bench).
_COMPRESSED = 0.38
#: Copies of each row that an Apache Fluss cluster of three keeps by default in production.
_REPLICAS = 3
_WANTED = {"rows_s": 500_000, "reads": 2.0, "days": 3.0}
_MACHINES = ((2, 1), (8, 2), (32, 4))


@dataclass(frozen=True)
class Costs:
    """What work costs, taken from figures."""

    append: float
    scan: float
    tiering: float
    key_bytes: float
    base_mb: float

    @property
    def append_row_us(self) -> float:
        """Microseconds of the server's CPU for a row that comes in."""
        return self.append * ROW_BYTES / 1000

    @property
    def scan_row_us(self) -> float:
        """And for one that goes out."""
        return self.scan * ROW_BYTES / 1000


def costs(kept: Kept, who: str, rows: int) -> Costs:
    """Costs at a point of the axis of rows."""
    found = kept.at("rows", rows, who)
    return Costs(
        append=found["append"]["cpu_s_gb"],
        scan=found["scan"]["cpu_s_gb"],
        tiering=_seconds_gb(found["tiering"]) if "tiering" in found else 0.0,
        key_bytes=_key_bytes(found, rows) if who == "lakeward" else 0.0,
        base_mb=found["append"]["mb"],
    )


def _seconds_gb(tiering: Figure) -> float:
    """Core seconds for a GB into the lake: both cores of this machine, all the time that the round took."""
    return float(tiering["s"]) * 2 / (float(tiering["rows"]) * ROW_BYTES / 1e9)


def _key_bytes(found: dict[str, Figure], keys: int) -> float:
    return (float(found["upsert"]["mb"]) - float(found["scan"]["mb"])) * 1e6 / keys


def largest_rows(kept: Kept, who: str, work: str = "append") -> int:
    """The largest point of the axis of rows that was measured for somebody."""
    return max(value for value, _ in kept.curve("rows", who, work, "cpu_s_gb"))


def page(kept: Kept) -> str:
    """The page."""
    at = largest_rows(kept, "lakeward", "tiering")
    ours = costs(kept, "lakeward", at)
    lines = ["# Capacity", ""]
    lines += _p(
        "What a machine of N cores and M disks holds, worked out from the figures of [the benchmarks at "
        f"size](benchmarks-scale.md) at {at:,} rows ({at * ROW_BYTES / 1e9:.2g} GB); `python -m bench.scale.capacity` "
        "writes this page. Rows are those of the bench: ten columns, 92 bytes. Take your own row size and the same "
        "arithmetic; small batches cost more (see there)."
    )
    lines += ["", "## What work costs", "", "| work | the server's CPU |", "|---|---|"]
    lines += [
        f"| rows in | {ours.append:.2f} s a GB, {ours.append_row_us:.3f} µs a row |",
        f"| rows out | {ours.scan:.2f} s a GB, {ours.scan_row_us:.3f} µs a row |",
        f"| rows into the lake (tiering service), at most: two cores all the time | {ours.tiering:.1f} s a GB |",
        f"| a key of a primary key table, in memory | {ours.key_bytes:.0f} bytes |",
        f"| the server itself | {ours.base_mb:.0f} MB after its first GB |",
        "",
        "## What a machine holds",
        "",
    ]
    lines += _p(
        f"A server is one process, and its loop one core: {_USED:.0%} of that core is planned for, the other cores are "
        f"for the tiering service, queries and what is compiled. Each row is read {_WANTED['reads']:g} times, and kept "
        f"{_WANTED['days']:g} days on disks of {_DISK_TB:g} TB that may be {_FULL:.0%} full, compressed to "
        f"{_COMPRESSED:.0%} (one batch of the bench, zstd). Shares, days and disks are assumptions: put in your own."
    )
    lines += [
        "",
        "```",
        (
            f"CPU of a row   = {ours.append_row_us:.3f} µs in + {_WANTED['reads']:g} × {ours.scan_row_us:.3f} µs out = "
            f"{row_us(ours):.3f} µs"
        ),
        f"by CPU         = {_USED:g} core ÷ {row_us(ours):.3f} µs = {by_cpu(ours) / 1e6:.2f} M rows/s",
        f"by tiering     = (N − 1) cores × {_USED:g} ÷ ({ours.tiering:.1f} s/GB × {ROW_BYTES} bytes)",
        (
            f"by disk's room = M × {_DISK_TB:g} TB × {_FULL:g} ÷ ({ROW_BYTES} bytes × {_COMPRESSED:g} × "
            f"{_WANTED['days']:g} days)"
        ),
        f"by disk's rate = M × {_DISK_MB_S} MB/s × {_USED:g} ÷ ({ROW_BYTES} bytes × {_COMPRESSED:g})",
        "```",
        "",
        "| cores | disks | by CPU | by tiering | by room | by rate | holds, rows/s | bound by |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [_machine(ours, cores, disks) for cores, disks in _MACHINES]
    lines += [""]
    lines += _p(
        "A lake takes what is older: with tiering on, days on disk are how long readers may lag, not how long rows are "
        "kept. A second server is a cluster of its own, with other tables, and holds as much again."
    )
    lines += ["", "## The same load on an Apache Fluss cluster", ""]
    lines += _elsewhere(kept, ours)
    return "\n".join([*lines, ""])


def row_us(cost: Costs) -> float:
    """Microseconds of the server's CPU for a row that comes in once and goes out as often as is planned."""
    return cost.append_row_us + _WANTED["reads"] * cost.scan_row_us


def by_cpu(cost: Costs) -> float:
    """Rows a second of one server."""
    return _USED / row_us(cost) * 1e6


def bounds(cost: Costs, cores: int, disks: int) -> dict[str, float]:
    """Rows a second, by what bounds them."""
    stored = ROW_BYTES * _COMPRESSED
    return {
        "CPU": by_cpu(cost),
        "tiering": (cores - 1) * _USED / (cost.tiering * ROW_BYTES / 1e9),
        "room": disks * _DISK_TB * 1e12 * _FULL / (stored * _WANTED["days"] * 86400),
        "rate": disks * _DISK_MB_S * 1e6 * _USED / stored,
    }


def _machine(cost: Costs, cores: int, disks: int) -> str:
    found = bounds(cost, cores, disks)
    least = min(found, key=lambda name: found[name])
    shown = " | ".join(f"{rate / 1e6:.2f} M" for rate in found.values())
    return f"| {cores} | {disks} | {shown} | {found[least] / 1e6:.2f} M | {least} |"


def _elsewhere(kept: Kept, ours: Costs) -> list[str]:
    try:
        at = largest_rows(kept, "fluss", "scan")
    except ValueError:
        return _p("Not compared: no figures of Apache Fluss are kept (`python -m bench.scale --peers fluss`).")
    theirs = costs(kept, "fluss", at)
    same = costs(kept, "lakeward", at)
    rows = _WANTED["rows_s"]
    ours_cores, their_cores = (rows * row_us(cost) / 1e6 / _USED for cost in (same, theirs))
    tiering_cores = rows * ROW_BYTES / 1e9 * ours.tiering / _USED
    lines = _p(
        f"{rows:,} rows a second, each read {_WANTED['reads']:g} times, tiered into Iceberg by our pipeline on Spark, "
        f"which costs the same on either. CPU as measured at {at:,} rows on the same "
        f"machine, but not in one run: {_taken(kept, at)}. Apache Fluss keeps {_REPLICAS} "
        "copies of each row on as many tablet servers, as its users run it, and each copy is appended and fetched "
        "once more. Lakeward keeps one, and copies closed segments to remote storage."
    )
    copies = (_REPLICAS - 1) * (theirs.append_row_us + theirs.scan_row_us) * rows / 1e6 / _USED
    return [
        *lines,
        "",
        "| | Lakeward | Apache Fluss, one copy | Apache Fluss, three copies |",
        "|---|---|---|---|",
        (
            f"| CPU of a row, in and {_WANTED['reads']:g} × out | {row_us(same):.3f} µs | {row_us(theirs):.3f} µs | "
            f"{row_us(theirs):.3f} µs + 2 × {theirs.append_row_us + theirs.scan_row_us:.3f} µs |"
        ),
        (f"| cores of servers, {_USED:.0%} used | {ours_cores:.2f} | {their_cores:.2f} | {their_cores + copies:.2f} |"),
        f"| cores of tiering, {_USED:.0%} used | {tiering_cores:.1f} | {tiering_cores:.1f} | {tiering_cores:.1f} |",
        (
            f"| memory of servers after the first GB | {same.base_mb:.0f} MB | {theirs.base_mb:.0f} MB | "
            f"{theirs.base_mb * _REPLICAS:.0f} MB |"
        ),
        (
            f"| disk for {_WANTED['days']:g} days | {_disk_tb(1):.1f} TB | {_disk_tb(1):.1f} TB | "
            f"{_disk_tb(_REPLICAS):.1f} TB |"
        ),
    ]


def _taken(kept: Kept, at: int) -> str:
    """At which load of the machine each side was measured; CPU seconds suffer less from it than rates do."""
    loads = [kept.at("rows", at, who)["append"].get("load") for who in ("lakeward", "fluss")]
    ours, theirs = ("not noted" if load is None else f"load {load:g}" for load in loads)
    return f"ours at {ours}, theirs at {theirs}"


def _disk_tb(copies: int) -> float:
    return copies * _WANTED["rows_s"] * ROW_BYTES * _COMPRESSED * _WANTED["days"] * 86400 / 1e12


def _p(text: str) -> list[str]:
    return fill(text, 120, break_long_words=False, break_on_hyphens=False).splitlines()


if __name__ == "__main__":
    PAGE.write_text(page(Kept()))
