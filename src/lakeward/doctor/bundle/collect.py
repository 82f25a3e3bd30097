"""Texts of a cluster, of this machine and of the data directory, for a bundle."""

from __future__ import annotations

import asyncio
import stat
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from lakeward.client.tables.connection import AsyncConnection
from lakeward.doctor.bundle.bundle import Bundle
from lakeward.doctor.bundle.redaction import Redaction, properties, secrets_of
from lakeward.doctor.examine import Examination
from lakeward.doctor.look.directory import ENTRIES_MAX, entries
from lakeward.doctor.look.look import sentence
from lakeward.errors import LakewardError
from lakeward.model.json_form import schema_to_json
from lakeward.options.authorization import AUDIT_DIR
from lakeward.query.door import aconnect
from lakeward.server.grants.records.audit_file import NAME as AUDIT_FILE

_LINES = 2000
_LINE_MAX = 4000
_TABLES_MAX = 500
_PARTITIONS_MAX = 32
_PAGES = {"/health": "health.json", "/metrics": "metrics.txt", "/remote": "remote.json"}


async def collect(
    seen: Examination,
    bootstrap: str,
    options: Mapping[str, Any],
    *,
    data_dir: Path | None = None,
    logs: Sequence[Path] = (),
    timeout_s: float = 60.0,
) -> Bundle:
    """Everything there is to be had; what cannot be had says why in its place."""
    redaction = Redaction(secrets_of(options))
    bundle = Bundle(redaction)
    bundle.add_document("findings.json", "What `lakeward doctor` found, and what it could not check.", seen.document())
    machine = seen.facts.machine
    told = None if machine is None else asdict(machine)
    bundle.add_document("machine.json", "This machine: system, Python, libraries, memory.", told)
    if seen.refusal is None:
        await _collect_cluster(bundle, seen, bootstrap, options, timeout_s)
    await asyncio.to_thread(_collect_files, bundle, redaction, seen, data_dir, logs)
    return bundle


def _collect_files(
    bundle: Bundle, redaction: Redaction, seen: Examination, data_dir: Path | None, logs: Sequence[Path]
) -> None:
    if data_dir is not None:
        root = data_dir.resolve()
        bundle.add("directory.txt", "Files below the data directory: mode, size, time, name.", _listing(root))
        audit = Path((seen.facts.options or {}).get(AUDIT_DIR.key) or root) / AUDIT_FILE
        lines = filter(None, map(redaction.audit_line, _last_lines(audit)))
        bundle.add("audit.jsonl", "The last lines of the audit log, users and addresses as numbers.", "\n".join(lines))
        place = [seen.facts.directory, seen.facts.disk, seen.facts.process]
        bundle.add_document(
            "place.json", "The data directory, its disk, the server's process.", [asdict(one) for one in place if one]
        )
    for number, path in enumerate(logs, 1):
        bundle.add(f"log-{number}.txt", f"The last lines of {path}.", "\n".join(_last_lines(path)))


async def _collect_cluster(
    bundle: Bundle, seen: Examination, bootstrap: str, options: Mapping[str, Any], timeout_s: float
) -> None:
    facts = seen.facts
    bundle.add_document(
        "options.json", "Options of the cluster as set, secrets starred.", properties(facts.options or {})
    )
    bundle.add_document(
        "tiering.json",
        "What the tiering service wrote down of each table.",
        {name: asdict(one) for name, one in (facts.tiering or {}).items()},
    )
    bundle.add_document("groups.json", "How far groups are behind.", [asdict(one) for one in facts.groups or ()])
    try:
        async with asyncio.timeout(timeout_s), await aconnect(bootstrap, **options) as conn:
            for path, name in _PAGES.items():
                bundle.add(name, f"GET {path}.", await _text_of(partial(_page, conn, path)))
            servers = [f"{s.role} {s.id} {s.host}:{s.port}" for s in await conn.servers()]
            bundle.add_document("servers.json", "The servers of the cluster.", servers)
            tables = await _tables(conn)
            bundle.add_document("tables.json", "Tables: schema, properties, offsets, the lake's snapshot.", tables)
    except (LakewardError, OSError, TimeoutError) as wrong:
        bundle.add("trouble.txt", "What could not be asked.", f"{sentence(wrong)}\n")


async def _text_of(ask: Callable[[], Awaitable[str]]) -> str:
    try:
        return await ask()
    except (LakewardError, OSError) as wrong:
        return f"{sentence(wrong)}\n"


async def _page(conn: AsyncConnection, path: str) -> str:
    return (await (conn.remote_page() if path == "/remote" else conn.http_page(path))).text


async def _tables(conn: AsyncConnection) -> list[dict[str, Any]]:
    names = [f"{db}.{name}" for db in await conn.databases() for name in await conn.tables(db)]
    found = []
    for name in names[:_TABLES_MAX]:
        try:
            found.append(await _table(conn, name))
        except LakewardError as wrong:
            found.append({"table": name, "trouble": sentence(wrong)})
    if len(names) > _TABLES_MAX:
        found.append({"trouble": f"{len(names) - _TABLES_MAX:,} more tables are left out."})
    return found


async def _table(conn: AsyncConnection, name: str) -> dict[str, Any]:
    table = await conn.table(name)
    info, descriptor = table.info, table.info.descriptor
    partitions = await table.partitions() if descriptor.is_partitioned else []
    newest = sorted(partitions, key=lambda one: one.id)[-_PARTITIONS_MAX:] if descriptor.is_partitioned else None
    starts = await table.offsets("earliest", partitions=newest)
    ends = await table.offsets("latest", partitions=newest)
    snapshot = await conn.lake.snapshot(name)
    return {
        "table": name,
        "id": info.table_id,
        "schema": schema_to_json(info.schema),
        "buckets": info.bucket_count,
        "bucket_keys": list(descriptor.bucket_keys),
        "partition_keys": list(descriptor.partition_keys),
        "partitions": len(partitions),
        "properties": properties(descriptor.properties),
        "custom_properties": properties(descriptor.custom_properties),
        "offsets": {str(bucket): [starts.get(bucket), end] for bucket, end in ends.items()},
        "lake_snapshot": None
        if snapshot is None
        else {"id": snapshot.snapshot_id, "offsets": {str(b): end for b, end in snapshot.offsets.items()}},
    }


def _listing(root: Path) -> str:
    lines = [
        f"{stat.filemode(facts.st_mode)} {facts.st_size:>14,} {facts.st_mtime_ns // 1_000_000} {path.relative_to(root)}"
        for path, facts in islice(entries(root), ENTRIES_MAX)
    ]
    return "\n".join(lines) + "\n"


def _last_lines(path: Path) -> list[str]:
    try:
        with path.open(errors="replace") as file:
            return [line.rstrip("\n")[:_LINE_MAX] for line in deque(file, _LINES)]
    except OSError as wrong:
        return [f"{path} cannot be read: {wrong.strerror or wrong}"]
