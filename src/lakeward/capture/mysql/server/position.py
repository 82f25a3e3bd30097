"""Places in the binlog: a file and a byte in it, the GTIDs up to there, and the server whose file it is.

Always where a transaction ends. On the server that it was taken from, file and byte say where to go on; on another one,
after a failover, the GTIDs do.
"""

from __future__ import annotations

import re
from typing import Any

from lakeward.capture.port import Position

_MARIADB_GTID = re.compile(r"(\d+)-(\d+)-(\d+)")
_MYSQL_GTID = re.compile(r"([0-9a-f-]{36})((?::\d+(?:-\d+)?)+)", re.IGNORECASE)


def position(file: str, at: int, gtid: str, server: str) -> dict[str, Any]:
    """A place, as JSON."""
    return {"file": file, "pos": at, "gtid": gtid, "server": server}


def file_number(file: str) -> int:
    """The number at the end of a file's name, by which files are in order."""
    return int(file.rpartition(".")[2])


def place(of: Position) -> tuple[int, int]:
    """File and byte, in order."""
    return file_number(of["file"]), int(of["pos"])


def is_after(one: Position, other: Position) -> bool:
    """Whether `one` is later; of two servers, whether it has transactions that the other has not."""
    if one["server"] == other["server"]:
        return place(one) > place(other)
    had = gtid_counts(other["gtid"])
    return any(count > had.get(source, 0) for source, count in gtid_counts(one["gtid"]).items())


def gtid_counts(gtid: str) -> dict[str, int]:
    """How far each source has come: the sequence of a MariaDB domain, the number of a MySQL server's transactions."""
    mariadb = {found[1]: int(found[3]) for found in _MARIADB_GTID.finditer(gtid) if not _MYSQL_GTID.search(gtid)}
    return mariadb or {
        source: sum(end - begin + 1 for begin, end in spans) for source, spans in parse_gtid_set(gtid).items()
    }


def parse_gtid_set(gtid: str) -> dict[str, list[tuple[int, int]]]:
    """A GTID set of MySQL: spans of transactions by server, both ends included."""
    out: dict[str, list[tuple[int, int]]] = {}
    for found in _MYSQL_GTID.finditer(gtid.replace("\n", "").replace(" ", "")):
        for span in found[2].strip(":").split(":"):
            begin, _, end = span.partition("-")
            out.setdefault(found[1].lower(), []).append((int(begin), int(end or begin)))
    return {source: sorted(spans) for source, spans in out.items()}


def add_to_gtid_set(spans: dict[str, list[tuple[int, int]]], source: str, number: int) -> None:
    """One transaction more."""
    known = spans.setdefault(source, [])
    if any(begin <= number <= end for begin, end in known):
        return
    known.append((number, number))
    known.sort()
    joined: list[tuple[int, int]] = []
    for begin, end in known:
        if joined and joined[-1][1] + 1 >= begin:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    spans[source] = joined


def write_gtid_set(spans: dict[str, list[tuple[int, int]]]) -> str:
    """The set as MySQL writes it."""
    return ",".join(
        f"{source}:" + ":".join(f"{begin}-{end}" if end > begin else str(begin) for begin, end in spans[source])
        for source in sorted(spans)
    )
