"""`python -m bench.security [--rows N] [--rounds N]`: what logins, grants and TLS cost our own client, and what
somebody who is logged in and idle costs the server, and how others fare beside strangers who mean harm.

Prints, and writes docs/benchmarks-security.md.
"""

from __future__ import annotations

import argparse
import datetime as dt

from bench.report import SECURITY_PAGE, Line, markdown
from bench.security.idle_logins import idle_kb
from bench.security.secured_work import GRANTS, OPEN, WAYS, Measured, measure, secured
from bench.security.strangers import QUIET, Beside
from bench.security.strangers import measure as measure_strangers
from bench.targets import warm_memory

_IDLE_KB = 10.0
_PING_MS = 50.0  # as docs/benchmarks-fairness.md promises it
_PROMISED = {"SASL + grants": 1.03, "SSL": 1.3, "SASL_SSL": 1.3}


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(prog="bench.security", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of each append and scan (default 2,000,000)")
    parser.add_argument("--rounds", type=int, default=9, help="repeats of each work; the median counts (default 9)")
    parser.add_argument("--connections", type=int, default=10_000, help="that are idle (default 10,000)")
    parser.add_argument("--frames", type=int, default=100_000, help="damaged, before and after a login")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks-security.md as it is")
    arguments = parser.parse_args()
    warm_memory()
    with secured() as servers:
        found = measure(servers, arguments.rows, arguments.rounds)
    idle = {way: idle_kb(way, arguments.connections) for way in ("PLAINTEXT", "SASL", "SASL_SSL")}
    beside = measure_strangers(arguments.frames)
    lines = [line for work in ("append", "scan") for way in WAYS[1:] for line in _lines(work, way, found)]
    page = markdown(
        [*lines, _idle_line(idle, arguments.connections), *_beside_lines(beside)],
        f"{dt.date.today():%Y-%m-%d}",
        arguments.rounds,
        [*_notes(arguments.rows, idle), _growth(beside)],
        title="Benchmarks: security",
        peer=OPEN,
    )
    print(page)
    if not arguments.no_write:
        SECURITY_PAGE.write_text(page)


def _lines(work: str, way: str, found: dict[tuple[str, str], Measured]) -> list[Line]:
    """Time and CPU of one work, as multiples of those without."""
    with_it, without = found[work, way], found[work, OPEN]
    limit = _PROMISED.get(way, _PROMISED["SASL + grants"])
    promise = f"≤ {limit:g} ×"
    return [
        Line(
            f"{work}, {way}",
            f"{with_it.seconds * 1000:.0f} ms",
            f"{without.seconds * 1000:.0f} ms",
            promise,
            with_it.seconds / without.seconds,
            limit,
            at_least=False,
        ),
        Line(
            f"{work}, {way}: CPU of client and server",
            f"{with_it.cpu_s:.2f} s",
            f"{without.cpu_s:.2f} s",
            promise,
            with_it.cpu_s / without.cpu_s,
            limit,
            at_least=False,
        ),
    ]


def _idle_line(idle: dict[str, float], connections: int) -> Line:
    return Line(
        f"{connections:,} idle connections that have logged in (SASL), memory of the server for each, kB",
        f"{idle['SASL']:.1f} kB",
        f"{idle['PLAINTEXT']:.1f} kB",
        f"≤ {_IDLE_KB:g} kB",
        idle["SASL"],
        _IDLE_KB,
        at_least=False,
    )


def _beside_lines(beside: dict[str, Beside]) -> list[Line]:
    quiet = beside[QUIET].share_ms(0.99)
    return [
        Line(
            f"p99 of the pings of somebody who is in, beside {name}, ms",
            f"{found.share_ms(0.99):.1f} ms (p50 {found.share_ms(0.5):.1f})",
            f"{quiet:.1f} ms, alone",
            f"≤ {_PING_MS:g} ms",
            found.share_ms(0.99),
            _PING_MS,
            at_least=False,
        )
        for name, found in beside.items()
        if name != QUIET
    ]


def _growth(beside: dict[str, Beside]) -> str:
    worst = max(beside.values(), key=lambda one: one.growth_mb)
    return (
        "Strangers, the server and the one who pings share the machine. The server grew by"
        f" {worst.growth_mb:.0f} MB at most while strangers were there."
    )


def _notes(rows: int, idle: dict[str, float]) -> list[str]:
    same = (
        f"{rows:,} rows of ten columns, 92 bytes each, by our own client; tables, compression and batches are those of"
        " `python -m bench`. Each round does the work in all ways, in an order by chance."
    )
    servers = (
        f"“{WAYS[2]}” is a server of its own with {GRANTS:,} grants, of which two are the client's; all other ways are"
        " listeners of one server."
    )
    encrypted = (
        f"An idle connection over TLS that has logged in takes {idle['SASL_SSL']:.1f} kB; nothing is promised for it."
    )
    return [same, servers, "Connecting, the handshake and the login are not counted: they happen once.", encrypted]


if __name__ == "__main__":
    main()
