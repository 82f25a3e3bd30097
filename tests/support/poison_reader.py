"""Reads tables in every way, in a process of its own: what a bad batch kills is this process, and it shows.

python poison_reader.py BOOTSTRAP TABLE…      one line of JSON for each table and way: rows, or the error
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lakeward

BEHIND = 3


def ids(table: Any) -> list[int]:
    """The ids in a table of rows."""
    return sorted(table.column("id").to_pylist())


def followed(table: lakeward.Table, *, skip: bool) -> list[int]:
    """What a follower sees, up to the last good row."""
    rows: list[int] = []
    for batch in table.scan(end=None, skip_damaged=skip).follow():
        rows += batch.column("id").to_pylist()
        if len(rows) >= 2 * BEHIND:
            break
    return sorted(rows)


READS: dict[str, Callable[[lakeward.Table], list[int]]] = {
    "scan": lambda t: ids(t.scan().to_arrow()),
    "projected": lambda t: ids(t.scan(["id"]).to_arrow()),
    "follow": lambda t: followed(t, skip=False),
    "head": lambda t: ids(t.head(100)),
    "query": lambda t: ids(t.query("select id, length(name) l, price from t")),
    "scan, skipping": lambda t: ids(t.scan(skip_damaged=True).to_arrow()),
    "projected, skipping": lambda t: ids(t.scan(["id"], skip_damaged=True).to_arrow()),
    "follow, skipping": lambda t: followed(t, skip=True),
    "query, skipping": lambda t: ids(t.query("select id from t", {"scan.skip-damaged": "true"})),
}


def _peak_mb() -> int:
    """Of this program: what getrusage says holds the peak of the one that started it, too."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(status["VmHWM"].split()[0]) >> 10


def main(bootstrap: str, *names: str) -> None:
    """Read and print."""
    logging.disable()
    with lakeward.connect(bootstrap) as conn:
        for name in names:
            table = conn.table(name)
            for way, read in READS.items():
                said: dict[str, Any] = {"table": name, "way": way}
                try:
                    said["ids"] = read(table)
                except lakeward.LakewardError as wrong:
                    said["error"] = str(wrong)
                except BaseException:  # noqa: BLE001 - it is told
                    said["crash"] = traceback.format_exc()
                print(json.dumps(said), flush=True)
    print(json.dumps({"peak_mb": _peak_mb()}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
