"""Names of jobs: what the script says, else what the job does."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from urllib.parse import quote

from lakeward.options.secrets import without_secret_options
from lakeward.spark.scripts.jobs.stream_plan import StreamPlan

_NAME_MAX = 120
_HEX = 8


def derived_name(streams: Sequence[StreamPlan]) -> str:
    """`<sink table>-<8 hex>`, the same whenever sinks, sources and texts are."""
    told = "\0".join(p for s in streams for p in (s.sink, s.into, *sorted(s.sources), s.text))
    return f"{last_part(streams[0].sink)}-{_digest(told)}"


def plain_text(text: str) -> str:
    """A statement's text as it is compared and written down: one line, without secrets."""
    return without_secret_options(" ".join(text.split()))


def last_part(sink: str) -> str:
    """The table of 'catalog.database.table'."""
    return sink.rpartition(".")[2]


def folder_name(name: str) -> str:
    """A name as a file system takes it; different names stay different."""
    quoted = quote(name, safe=" ()+,=@")
    if quoted.startswith("."):
        quoted = f"%2E{quoted[1:]}"
    return quoted if len(quoted) <= _NAME_MAX else f"{quoted[:_NAME_MAX]}-{_digest(name)}"


def stream_folders(sinks: Sequence[str]) -> list[str]:
    """A folder for each stream of a job; those into the same table are numbered."""
    found: list[str] = []
    for sink in sinks:
        folder = folder_name(last_part(sink))
        count = sum(1 for one in found if one == folder or one.startswith(f"{folder}.")) + 1
        found.append(folder if count == 1 else f"{folder}.{count}")
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HEX]
