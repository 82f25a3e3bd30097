"""TruthModel: tables as plain Python rows, and what queries over them must give."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

Row = tuple[Any, ...]
START = datetime(2026, 3, 29, 1, 0)


@dataclass
class TruthModel:
    """The rows of a table of orders by id, of users by id, and of a log of clicks."""

    orders: dict[int, dict[str, Any]] = field(default_factory=dict)
    users: dict[int, dict[str, Any]] = field(default_factory=dict)
    clicks: list[dict[str, Any]] = field(default_factory=list)

    def bought(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Orders with their user."""
        return ((o, self.users[o["user_id"]]) for o in self.orders.values() if o["user_id"] in self.users)


def random_order(draw: random.Random, number: int) -> dict[str, Any]:
    """An order; few groups, so that they come and go."""
    return {
        "id": number,
        "user_id": draw.choice([1, 2, 3, 4, None]),
        "g": draw.choice("abcd"),
        "v": draw.choice([None, -1, 0, 1, 2, 3, 5, 8]),
        "at": START + timedelta(seconds=draw.randrange(60)),
    }


def random_user(draw: random.Random, number: int) -> dict[str, Any]:
    """A user; few cities."""
    return {"id": number, "city": draw.choice(["Ulm", "Bonn", "Jena"]), "lvl": draw.randrange(4)}


def _grouped(rows: Any, key: Callable[[Any], Any]) -> list[tuple[Any, list[Any]]]:
    return [(k, list(found)) for k, found in groupby(sorted(rows, key=lambda r: repr(key(r))), key=key)]


def _sum(values: list[int]) -> int | None:
    return sum(values) if values else None


def totals(model: TruthModel) -> list[Row]:
    """Every aggregate of a group."""
    rows = []
    for g, found in _grouped(model.orders.values(), lambda o: o["g"]):
        v = [o["v"] for o in found if o["v"] is not None]
        late = sum(1 for o in found if o["v"] is not None and o["v"] > 1)
        rows.append(
            (g, len(found), len(v), _sum(v), sum(v) / len(v) if v else None, *_ends(v), len(set(v)), late, _sign(v))
        )
    return rows


def _ends(values: list[int]) -> tuple[int | None, int | None]:
    return min(values, default=None), max(values, default=None)


def _sign(values: list[int]) -> str:
    return "much" if (_sum(values) or 0) > 5 else "little"


def hops(model: TruthModel) -> list[Row]:
    """Windows of 20 s every 10 s, from the second minute's half on."""
    counts: Counter[datetime] = Counter()
    sums: Counter[datetime] = Counter()
    for order in model.orders.values():
        begin = START + timedelta(seconds=(order["at"] - START).seconds // 10 * 10)
        for start in (begin, begin - timedelta(seconds=10)):
            if start >= START + timedelta(seconds=20):
                counts[start] += 1
                sums[start] += order["v"] or 0
    return [(start, start + timedelta(seconds=20), n, sums[start]) for start, n in counts.items()]


def newest(model: TruthModel) -> list[Row]:
    """The last order of each group."""
    found = _grouped(model.orders.values(), lambda o: o["g"])
    return [(g, max((o["at"], o["id"]) for o in rows)[1]) for g, rows in found]


#: Name → the sink's columns and key, the query, and the rows that it must give.
CASES: dict[str, tuple[str, str, Callable[[TruthModel], list[Row]]]] = {
    "totals": (
        "g STRING, n BIGINT, c BIGINT, s BIGINT, a DOUBLE, lo INT,hi INT, d BIGINT, f BIGINT, w STRING, PRIMARY KEY(g)",
        (
            "SELECT g, COUNT(*), COUNT(v), SUM(v), AVG(v), MIN(v), MAX(v), COUNT(DISTINCT v), "
            "COUNT(*) FILTER (WHERE v > 1), "
            "CASE WHEN COALESCE(SUM(v), 0) > 5 THEN 'much' ELSE 'little' END FROM orders GROUP BY g"
        ),
        totals,
    ),
    "having": (
        "g STRING, n BIGINT, PRIMARY KEY (g)",
        "SELECT g, COUNT(*) + 1 AS n FROM orders WHERE v IS NOT NULL GROUP BY 1 HAVING n * 2 > 6",
        lambda model: [
            (g, len(found) + 1)
            for g, found in _grouped((o for o in model.orders.values() if o["v"] is not None), lambda o: o["g"])
            if (len(found) + 1) * 2 > 6
        ],
    ),
    "everything": (
        "k STRING, n BIGINT, s BIGINT, PRIMARY KEY (k)",
        "SELECT 'all', COUNT(*), SUM(v) FROM orders",
        lambda model: [("all", len(model.orders), _sum([o["v"] for o in model.orders.values() if o["v"] is not None]))],
    ),
    "outer_filter": (
        "r INT, n BIGINT, PRIMARY KEY (r)",
        (
            "WITH counts AS (SELECT v % 3 AS r, COUNT(*) AS n FROM orders WHERE v >= 0 GROUP BY v % 3) "
            "SELECT r, n * 10 FROM counts WHERE n < 4"
        ),
        lambda model: [
            (r, 10 * len(found))
            for r, found in _grouped(
                (o for o in model.orders.values() if (o["v"] or 0) >= 0 and o["v"] is not None), lambda o: o["v"] % 3
            )
            if len(found) < 4
        ],
    ),
    "moved": (
        "g STRING, id BIGINT, v INT, PRIMARY KEY (g, id)",
        "SELECT g, id, v FROM orders WHERE v NOT IN (0, 8)",
        lambda model: [(o["g"], o["id"], o["v"]) for o in model.orders.values() if o["v"] not in {None, 0, 8}],
    ),
    "groups": (
        "g STRING, PRIMARY KEY (g)",
        "SELECT DISTINCT g FROM orders",
        lambda model: [(g,) for g in {o["g"] for o in model.orders.values()}],
    ),
    "both": (
        "g STRING, n BIGINT, hi INT, PRIMARY KEY (g)",
        "SELECT g, COUNT(*), MAX(v) FROM (SELECT g, v FROM orders UNION ALL SELECT url, v FROM clicks) u GROUP BY g",
        lambda model: [
            (g, len(found), max((v for _, v in found if v is not None), default=None))
            for g, found in _grouped(
                [*((o["g"], o["v"]) for o in model.orders.values()), *((c["url"], c["v"]) for c in model.clicks)],
                lambda row: row[0],
            )
        ],
    ),
    "enriched": (
        "id BIGINT, city STRING, v INT, PRIMARY KEY (id)",
        "SELECT o.id, u.city, o.v FROM orders o, users u WHERE o.user_id = u.id AND u.lvl > 0",
        lambda model: [(o["id"], u["city"], o["v"]) for o, u in model.bought() if u["lvl"] > 0],
    ),
    "cities": (
        "city STRING, n BIGINT, s BIGINT, PRIMARY KEY (city)",
        "SELECT u.city, COUNT(*), SUM(o.v) FROM orders o JOIN users u ON o.user_id = u.id GROUP BY u.city",
        lambda model: [
            (city, len(found), _sum([o["v"] for o, _ in found if o["v"] is not None]))
            for city, found in _grouped(model.bought(), lambda pair: pair[1]["city"])
        ],
    ),
    "clicked": (
        "city STRING, n BIGINT, PRIMARY KEY (city)",
        "SELECT u.city, COUNT(*) FROM clicks c JOIN users u ON c.user_id = u.id GROUP BY u.city",
        lambda model: list(
            Counter(model.users[c["user_id"]]["city"] for c in model.clicks if c["user_id"] in model.users).items()
        ),
    ),
    "pairs": (
        "a BIGINT, b BIGINT, city STRING, PRIMARY KEY (a, b)",
        (
            "SELECT x.id, y.id, u.city FROM orders x JOIN orders y ON x.g = y.g AND x.id < y.id "
            "JOIN users u ON u.id = x.user_id"
        ),
        lambda model: [
            (o["id"], y["id"], u["city"])
            for o, u in model.bought()
            for y in model.orders.values()
            if o["g"] == y["g"] and o["id"] < y["id"]
        ],
    ),
    "hops": (
        "s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, v BIGINT, PRIMARY KEY (s, e)",
        (
            "SELECT window_start, window_end, COUNT(*), SUM(COALESCE(v, 0)) FROM TABLE(HOP(TABLE orders, "
            "DESCRIPTOR(at), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) "
            "WHERE window_start >= TIMESTAMP '2026-03-29 01:00:20' GROUP BY window_start, window_end"
        ),
        hops,
    ),
    "newest": (
        "g STRING, id BIGINT, PRIMARY KEY (g)",
        (
            "SELECT g, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY at DESC, id DESC) AS rn "
            "FROM orders) WHERE rn = 1"
        ),
        newest,
    ),
}
