"""What a checkpoint was begun with: another source or sink does not go on from it. No secret is in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from lakeward.capture.port import TableId
from lakeward.errors import ErrorCode
from lakeward.pipelines.definition import End, PipelineDefinition
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.whole_file import replace_file
from lakeward.spark.scripts.jobs.job_home import local_path

_FILE = "pipeline.json"
_MARK_LENGTH = 16
_SOURCE = ("hostname", "port", "slot.name")
_SINK = ("bootstrap.servers", "properties.bootstrap.servers", "warehouse", "catalog.properties.uri")


def check_origin(definition: PipelineDefinition, checkpoint: str, tables: Iterable[TableId] = ()) -> str:
    """Refuse a checkpoint of another source or sink; the checkpoint's own mark, which another begun anew has not.

    `tables` are those that are followed from now on. One that was followed must stay: what changes in it meanwhile
    would be missing for good.

    An unused checkpoint is marked as this pipeline's. Batches are numbered from 0 in each: a sink that remembers
    numbers must remember the mark with them.
    """
    place = local_path(checkpoint)
    if place is None:
        return hashlib.sha256(checkpoint.encode()).hexdigest()[:_MARK_LENGTH]
    of_source = (*_SOURCE, "database-name") if definition.source.type == "postgres" else _SOURCE
    mine = {"source": _mark(definition.source, of_source), "sink": _mark(definition.sink, _SINK)}
    try:
        theirs = json.loads((place / _FILE).read_text())
    except (OSError, ValueError):
        theirs = {**mine, "mark": SystemEntropy().uuid().hex[:_MARK_LENGTH]}
    for end in ("source", "sink"):
        if theirs.get(end) != mine[end]:
            raise ErrorCode.INVALID_CONFIG.error(
                f"Pipeline '{definition.name}' was begun with another {end}, and cannot go on from its checkpoint "
                "with this one. Give it another name to begin anew beside it, or forget the old one with `lakeward "
                f"pipeline drop {definition.name}`."
            )
    followed = {tuple(pair) for pair in theirs.get("tables", [])}
    for pair in sorted(followed):
        if not definition.names(TableId(*pair)):
            raise ErrorCode.INVALID_CONFIG.error(
                f"Pipeline '{definition.name}' has followed table {'.'.join(pair)}, which is not named any more: its "
                "changes would be lost from here on. Name it again, give this pipeline another name, or forget the old "
                f"one with `lakeward pipeline drop {definition.name}`."
            )
    followed |= {(id_.space, id_.name) for id_ in tables}
    replace_file(LocalFiles(), place / _FILE, json.dumps({**theirs, "tables": sorted(followed)}).encode())
    return str(theirs["mark"])


def _mark(end: End, keys: tuple[str, ...]) -> str:
    told = json.dumps([end.type.replace("mariadb", "mysql"), *(end.options.get(key) for key in keys)])
    return hashlib.sha256(told.encode()).hexdigest()
