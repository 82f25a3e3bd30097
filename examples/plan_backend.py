"""A small engine of its own: a front end asks for a plan by HTTP, back ends read its splits in processes of their own.

    lakeward sql serve --warehouse ./lake &
    python examples/plan_backend.py http://127.0.0.1:9184 shop.orders "id >= 10"

It prints how many rows each tier gave, and how many they are in all: the same as `lakeward sql` counts.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import lakeward
from lakeward.query.duckdb.question.batch_filter import batch_filter
from lakeward.query.plan.splits import split_of_json
from lakeward.query.read.read import read_splits
from lakeward.query.request.request import ReadRequest


def plan(url: str, table: str, where: str | None) -> dict[str, Any]:
    """The front end's part."""
    body = json.dumps({"table": table, "filter": where, "parallelism": 2}).encode()
    asked = urllib.request.Request(f"{url}/v1/plan", body, {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(asked) as answer:  # noqa: S310 - a service of ours
        found: dict[str, Any] = json.load(answer)
        return found


def read(task: tuple[dict[str, Any], dict[str, Any], str | None]) -> tuple[str, int]:
    """A back end's part: one split. Filters of a plan leave out files; rows are filtered by whoever reads them."""
    answer, split, where = task
    request = ReadRequest.of_json(answer["request"])
    count = 0
    with lakeward.connect(answer["credentials"]["log"]["bootstrap"]) as connection:
        for batch in read_splits(connection, request, [split_of_json(split)]):
            if where is None or not batch.num_rows:
                count += batch.num_rows
                continue
            with batch_filter(where, batch.schema) as rows:
                count += rows.matching(batch).num_rows
    return split["tier"], count


def main(url: str, table: str, where: str | None = None) -> None:
    """Plan once, read side by side."""
    answer = plan(url, table, where)
    tasks = [(answer, split, where) for split in answer["plan"]["splits"]]
    by_tier: Counter[str] = Counter()
    with ProcessPoolExecutor(2, get_context("spawn")) as back_ends:
        for tier, count in back_ends.map(read, tasks):
            by_tier[tier] += count
    for tier, count in sorted(by_tier.items()):
        print(f"{tier} {count}")
    print(f"rows {by_tier.total()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
