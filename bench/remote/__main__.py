"""`python -m bench.remote [--only NAME] [--no-write]`: remote storage; writes docs/benchmarks-remote.md."""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Callable

from bench.remote import copies, restore, scans, stores
from bench.remote.place import Place, places
from bench.report import REMOTE_PAGE, Line, markdown
from bench.targets import warm_memory

#: Each part measures on every place and says what it found.
_PARTS: dict[str, Callable[[list[Place]], list[Line]]] = {
    "stores": stores.lines,
    "copies": copies.lines,
    "scans": scans.lines,
    "restore": restore.lines,
}
_NOTES = [
    "Places: a directory, and SeaweedFS on the same machine, which takes its share of the two cores.",
    "A directory's files are synced to disk before they are visible; obstore alone does not do that.",
]


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(prog="bench.remote", description=__doc__)
    parser.add_argument("--only", choices=_PARTS, help="one part of it")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks-remote.md as it is")
    arguments = parser.parse_args()
    warm_memory()
    lines: list[Line] = []
    with places() as all_places:
        for name, part in _PARTS.items():
            if arguments.only in {None, name}:
                lines += part([place.at(name) for place in all_places])
    page = markdown(
        lines, f"{dt.date.today():%Y-%m-%d}", 1, _NOTES, title="Benchmarks: remote storage", peer="beside it"
    )
    print(page)
    if not (arguments.no_write or arguments.only):
        REMOTE_PAGE.write_text(page)


if __name__ == "__main__":
    main()
