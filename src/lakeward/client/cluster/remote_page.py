"""RemotePage: GET /remote of all servers of a cluster as one document; each knows what its own processes copy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

_SUMS = ("local_segments", "local_bytes", "remote_segments", "remote_bytes", "lag_rows", "lag_bytes")
_OF_A_PROCESS = (
    "failures",
    "buckets_waiting",
    "files_to_delete",
    "copied_segments",
    "copied_bytes",
    "expired_segments",
)
_LONGEST = "lag_seconds"

Document = Mapping[str, Any]


def one_document(
    first: Document, coordinators: Iterable[Document], tablets: Iterable[Document], silent: Iterable[str]
) -> dict[str, Any]:
    """What servers have told, as one: rows of tables by those that lead buckets, counts of copies by all.

    A coordinator names what it has committed for others, too; that counts only when nobody else has told. `silent` are
    addresses that did not tell.
    """
    leading = list(tablets)
    every = [*coordinators, *leading] or [first]
    failing = next((one for one in every if one.get("is_failing")), first)
    told = leading or every
    tables: dict[str, dict[str, Any]] = {}
    for document in told:
        for row in document.get("tables", ()):
            _add(tables.setdefault(row["table"], {"table": row["table"]}), row)
    total: dict[str, Any] = {}
    for document in told:
        _add(total, document)
    counts = {name: sum(one.get(name, 0) for one in every) for name in _OF_A_PROCESS}
    merged = {**first, "is_failing": failing.get("is_failing"), "reason": failing.get("reason"), **counts, **total}
    if "buckets" in first:
        merged["buckets"] = _buckets(told)
    return merged | {"tables": [tables[name] for name in sorted(tables)], "silent": sorted(silent)}


def _add(total: dict[str, Any], one: Document) -> None:
    for name in _SUMS:
        total[name] = total.get(name, 0) + one.get(name, 0)
    total[_LONGEST] = max(total.get(_LONGEST, 0.0), one.get(_LONGEST, 0.0))


def _buckets(told: Iterable[Document]) -> list[Document]:
    rows = [row for document in told for row in document.get("buckets", ())]
    return sorted(rows, key=lambda row: (row["partition"] or "", row["bucket"]))


def document_of(text: str) -> Document | None:
    """The document of one server; None when it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
