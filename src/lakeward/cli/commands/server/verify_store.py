"""lakeward verify --remote: what a server copied to remote storage, all of it read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.cli.commands.server.serve import options_of
from lakeward.cli.output.listing import count, say, show_json, show_listing
from lakeward.cli.output.read_progress import ReadProgress

if TYPE_CHECKING:
    from lakeward.server.restore.verified_store import StoreReport


def verify_remote(url: str, config: Path | None, pairs: tuple[str, ...], output: str) -> bool:
    """Read a remote directory; whether everything is as it was written."""
    with ReadProgress("bytes") as progress:
        report = asyncio.run(_read(url, config, pairs, progress))
    damaged = [
        {"what": d.what, "first": d.first, "end": d.end, "file": d.path, "reason": d.reason} for d in report.damaged
    ]
    if output == "json":
        show_json({"logs": report.logs, "segments": report.segments, "bytes": report.bytes, "damaged": damaged})
        return not damaged
    if damaged:
        show_listing(damaged, ["what", "first", "end", "file", "reason"], "table", "")
    read = f"{count(report.segments, 'segment')} of {count(report.logs, 'log')}, {count(report.snapshots, 'snapshot')}"
    told = count(len(damaged), "damaged object") if damaged else "everything is as it was written"
    say(f"{read}, {report.bytes / 1e6:,.1f} MB read in {url}: {told}.")
    if damaged:
        say(
            "Bring the objects back from a version or a copy of the store. What the server still has on its own disk "
            "is not lost: rows in local segments are read from there, and the next snapshot of a state is a new copy."
        )
    return not damaged


async def _read(url: str, config: Path | None, pairs: tuple[str, ...], progress: ReadProgress) -> StoreReport:
    from lakeward.remote.open_store import open_store
    from lakeward.server.restore.verified_store import verify_store

    options = options_of(config, None, None, (*pairs, f"remote.data.dir={url}"))
    store = open_store(url, options.texts)
    try:
        return await verify_store(store, lambda size: progress.move("remote storage", size))
    finally:
        await store.close()
